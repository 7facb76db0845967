"""Find the posts of a discussion: forum threads, questions with answers, comments, mails and reviews."""
