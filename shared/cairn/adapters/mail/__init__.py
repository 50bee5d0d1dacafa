"""Mailboxes over IMAP and SMTP. Not what their mails mean."""
