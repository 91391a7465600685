create table identity.spent_refresh_tokens (
  token_sha256 bytea not null constraint spent_refresh_tokens_pkey primary key,
  session_id uuid not null constraint spent_refresh_tokens_session_fkey references identity.sessions (id),
  expires_at timestamptz not null,
  spent_at timestamptz not null
);
comment on table identity.spent_refresh_tokens is
  'Refresh tokens that were exchanged for the next one: whoever presents one again ends the session. Kept until the session has expired.';
create index spent_refresh_tokens_by_expiry on identity.spent_refresh_tokens (expires_at);
