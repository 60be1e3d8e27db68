"""What monitoring reads at `/metrics`, counted in the database when it asks ([O1]).

exposition   measurements as the text that Prometheus reads (pure)
measures     the measurements themselves; each is a few queries over an index
"""

from gateway.metrics.measures import families, page

__all__ = ["families", "page"]
