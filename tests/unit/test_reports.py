"""What was reported of other gateways' deliveries, and the tests that tell it of this one.

A test may also name the reports it tells, in a comment above it.
"""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent

CASES, BUSY, DIALECTS = (
    "integration/test_delivery_cases",
    "integration/test_busy",
    "contract/dialects/test_known_cases",
)
KILLED, SIMULATED = "acceptance/test_kill9_gateway", "integration/test_outbox_simulation"
FETCHED = "contract/test_guarded_fetcher"

REPORTS = {
    # --- delivery
    "B050": (CASES, "what_was_owed_when_everything_stopped_is_sent_once_without_a_mark"),
    "B052": (CASES, "a_stop_during_a_send_leaves_nothing_to_repeat"),
    "B054": (KILLED, "a_second_death_during_recovery_is_as_honest_as_the_first"),
    "B056": (KILLED, "a_death_between_the_parts_of_a_long_answer_repeats_none_that_arrived"),
    "B058": (CASES, "a_time_out_that_speaks_of_formatting_is_a_time_out"),
    "B060": (CASES, "a_refusal_leaves_its_code_for_staff"),
    "B062": (CASES, "the_key_of_a_part_depends_on_nothing_that_changes"),
    "B064": (CASES, "a_delivered_message_is_never_owed_again"),
    "B066": (CASES, "a_receipt_that_could_not_be_stored_at_once_is_no_reason_to_send_again"),
    # --- order
    "B067": (SIMULATED, "ten_refusals_in_a_row_delay_one_chat_alone_and_keep_its_order"),
    "B069": ("integration/test_intake", "messages_that_come_while_a_turn_runs_all_wait_in_order"),
    "B071": (BUSY, "pieces_of_one_long_message_are_one_turn"),
    "B073": (
        "integration/test_turns",
        "in_a_group_each_answer_replies_to_the_message_that_it_answers",
    ),
    # --- limits
    "B075": (
        SIMULATED,
        "sixty_messages_to_a_group_pass_at_its_pace_and_a_private_chat_does_not_wait",
    ),
    "B077": (SIMULATED, "ten_refusals_in_a_row_delay_one_chat_alone_and_keep_its_order"),
    "B079": (
        "integration/test_targets",
        "after_three_refusals_in_a_row_the_agent_is_told_to_let_it_be",
    ),
    # --- live messages
    "B080": (CASES, "a_final_is_delivered_when_both_its_messages_are_and_not_before"),
    "B082": (CASES, "the_final_takes_the_place_of_whatever_stood_there"),
    "B084": (
        "unit/delivery/test_pace",
        "an_interval_that_is_too_short_grows_until_the_platform_is_content",
    ),
    "B086": (CASES, "a_preview_that_cannot_be_finished_stays_until_its_replacement_is_there"),
    "B088": ("contract/test_telegram_adapter", "an_edit_leaves_alone_what_it_does_not_name"),
    "B090": (CASES, "what_failed_six_times_is_still_owed_and_arrives"),
    # --- rendering
    "B092": (DIALECTS, "crossed_emphasis_is_well_nested_or_words"),
    "B094": (DIALECTS, "a_rule_does_not_spoil_what_stands_around_it"),
    "B096": (DIALECTS, "code_after_an_item_is_code_and_nothing_else_appears"),
    "B098": (DIALECTS, "numbers_are_kept"),
    "B100": (DIALECTS, "crossed_emphasis_is_well_nested_or_words"),
    "B102": (DIALECTS, "code_in_a_table_is_not_bold"),
    "B104": (DIALECTS, "slack_is_sent_mrkdwn"),
    "B108": (DIALECTS, "nobody_is_called_who_was_only_quoted"),
    "B110": (DIALECTS, "signal_says_where_a_link_leads_with_its_case_and_styles_still_fit"),
    # --- cutting
    "B111": (DIALECTS, "code_longer_than_a_message_is_closed_and_opened_again"),
    "B113": (DIALECTS, "code_without_a_place_to_cut_is_cut_and_ends"),
    "B115": (DIALECTS, "code_without_a_place_to_cut_is_cut_and_ends"),
    "B117": (DIALECTS, "an_answer_without_a_place_to_cut_has_no_part_too_many"),
    "B119": (DIALECTS, "wecom_counts_bytes"),
    "B121": (DIALECTS, "indented_yaml_means_the_same_after_a_cut"),
    # --- characters
    "B122": (DIALECTS, "signal_and_telegram_count_utf16_units"),
    "B124": (DIALECTS, "broken_surrogates_are_mended_everywhere"),
    "B126": ("unit/gateway/test_telegram_wire", "an_entity_outside_the_text_is_no_entity"),
    "B128": (DIALECTS, "a_cluster_at_a_seam_is_kept_whole"),
    # --- files
    "B130": (
        FETCHED,
        "a_name_with_any_inner_address_is_refused_before_anything_is_connected",
    ),
    "B132": (
        FETCHED,
        "a_name_whose_answer_changes_leads_only_to_the_address_that_was_judged",
    ),
    "B134": (FETCHED, "a_credential_is_not_carried_to_another_host"),
    "B136": ("integration/test_media_out", "a_voice_message_is_one_by_its_bytes"),
    "B138": (
        "integration/test_media_in",
        "an_album_is_one_message_with_each_caption_at_its_picture",
    ),
    "B140": (
        "integration/test_media_out",
        "a_file_from_elsewhere_is_not_sent_and_staff_can_read_that_it_was_asked_for",
    ),
    "B142": (
        "integration/test_media_in",
        "two_files_of_one_name_are_both_kept_and_no_name_leads_out",
    ),
}
# Of a platform that is not there yet: cards of Feishu with too many tables.
LATER = {"B106"}


def names_in(file: str) -> set[str]:
    tree = ast.parse((TESTS / f"{file}.py").read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_is_told_by_a_test(report):
    file, name = REPORTS[report]

    assert f"test_{name}" in names_in(file)


def test_a_report_of_what_comes_later_is_told_by_no_test_yet():
    written = "\n".join(
        path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__)
    )
    told = set(re.findall(r"\bB[0-9]{3}\b", written))

    assert not told & LATER
    assert not set(REPORTS) & LATER
