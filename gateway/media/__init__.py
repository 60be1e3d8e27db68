"""Files that came in with messages, and files on their way out.

names      what a file may be called: pure
kinds      what a file is, by its first bytes: pure
store      the bytes, in a directory of their own
shelf      the rows that say what is kept, for whom and how long: their only writer
arrivals   what came with a message is fetched, while its turn waits
desk       what the agent gets to see of it, in its session's own directory
leaving    a file of that directory is owed to the person
sending    the last step: a file goes out in the best form a platform takes
"""
