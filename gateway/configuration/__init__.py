"""What staff set up, as a file: to be kept, read, compared, and brought to another installation.

document   the file's contents as plain values, and what differs between two (pure)
sealing    secrets in it, behind a passphrase
carrying   out of the database, and back into it by the verbs of staff ([I3])
"""
