"""Places at which a process of an installation under test dies, as if by `kill -9`, when told to.

The product knows nothing of it: an installation gets them by `DJANGO_SETTINGS_MODULE`, and a test
arms one by writing its name into a file of the data directory (`Doom`). A process that gets there
takes the file away and kills itself; everything else runs as ever.
"""
