"""Pages for staff: questions and approvals, why they are open, what was said to them ([Q21])."""

from clarify.admin import permits, prompts, replies

__all__ = ["permits", "prompts", "replies"]
