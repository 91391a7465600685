create schema identity;
comment on schema identity is 'The identity service; nothing else reads it.';

create table identity.tenants (
  id uuid not null constraint tenants_pkey primary key,
  name text not null constraint tenants_name_length check (length(name) between 1 and 200),
  status text not null constraint tenants_status check (status in ('active', 'suspended')),
  platform boolean not null default false,
  display_name text not null,
  logo_url text,
  accent_hex text not null constraint tenants_accent_form check (accent_hex ~ '^#[0-9A-F]{6}$'),
  modules text[] not null,
  created_at timestamptz not null
);
comment on table identity.tenants is 'Tenants of the platform. One of them is the platform itself.';
create unique index tenants_one_platform on identity.tenants (platform) where platform;

create table identity.tenant_hosts (
  host text not null constraint tenant_hosts_pkey primary key constraint tenant_hosts_lower check (host = lower(host)),
  tenant_id uuid not null constraint tenant_hosts_tenant_fkey references identity.tenants (id),
  is_primary boolean not null default false,
  created_at timestamptz not null
);
comment on table identity.tenant_hosts is 'Hostnames that belong to a tenant.';
create unique index tenant_hosts_one_primary on identity.tenant_hosts (tenant_id) where is_primary;

create table identity.users (
  id uuid not null constraint users_pkey primary key,
  tenant_id uuid not null constraint users_tenant_fkey references identity.tenants (id),
  email text not null constraint users_email_lower check (email = lower(email)),
  password_hash text not null,
  environment text not null default 'sandbox' constraint users_environment check (environment in ('sandbox', 'production')),
  disabled_at timestamptz,
  created_at timestamptz not null,
  constraint users_email_key unique (email),
  constraint users_tenant_id_key unique (tenant_id, id)
);
comment on table identity.users is 'People who sign in. The password is a scrypt hash with its parameters.';

create table identity.totp_devices (
  user_id uuid not null constraint totp_devices_pkey primary key constraint totp_devices_user_fkey references identity.users (id),
  seed bytea not null,
  last_step bigint not null default 0,
  confirmed_at timestamptz,
  created_at timestamptz not null
);
comment on table identity.totp_devices is 'Authenticators. The seed is sealed; last_step makes a code work once.';

create table identity.role_bindings (
  id uuid not null constraint role_bindings_pkey primary key,
  tenant_id uuid not null,
  user_id uuid not null,
  role text not null,
  scope text not null constraint role_bindings_scope_form check (scope ~ '^(\*|(merchant|pos):[0-9a-f-]{36})$'),
  created_at timestamptz not null,
  constraint role_bindings_once unique (user_id, role, scope),
  constraint role_bindings_user_fkey foreign key (tenant_id, user_id) references identity.users (tenant_id, id)
);
comment on table identity.role_bindings is 'Which role a user holds and where (decision 5.4).';

create table identity.oidc_clients (
  id text not null constraint oidc_clients_pkey primary key,
  tenant_id uuid constraint oidc_clients_tenant_fkey references identity.tenants (id),
  name text not null,
  secret_sha256 bytea not null,
  permissions text[] not null,
  environment text not null constraint oidc_clients_environment check (environment in ('sandbox', 'production')),
  created_at timestamptz not null
);
comment on table identity.oidc_clients is 'Services that sign in for themselves. Secrets are 256 random bits, so a digest is enough.';

create table identity.signing_keys (
  id uuid not null constraint signing_keys_pkey primary key,
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz
);
comment on table identity.signing_keys is 'Keys that sign access tokens; private halves sealed. The one that is not retired signs.';
create unique index signing_keys_one_present on identity.signing_keys ((retired_at is null)) where retired_at is null;

create table identity.sessions (
  id uuid not null constraint sessions_pkey primary key,
  user_id uuid not null,
  tenant_id uuid not null,
  environment text not null constraint sessions_environment check (environment in ('sandbox', 'production')),
  refresh_token_sha256 bytea not null constraint sessions_refresh_token_key unique,
  authentication text not null constraint sessions_authentication check (authentication in ('pwd', 'mfa')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  constraint sessions_user_fkey foreign key (tenant_id, user_id) references identity.users (tenant_id, id)
);
comment on table identity.sessions is 'Sign-ins. A refresh token is 256 random bits, kept as a digest.';
create index sessions_by_user on identity.sessions (user_id, created_at desc);

create table identity.log_in_challenges (
  token_sha256 bytea not null constraint log_in_challenges_pkey primary key,
  user_id uuid not null constraint log_in_challenges_user_fkey references identity.users (id),
  environment text not null constraint log_in_challenges_environment check (environment in ('sandbox', 'production')),
  tries integer not null default 0,
  expires_at timestamptz not null,
  used_at timestamptz
);
comment on table identity.log_in_challenges is 'First steps of log-ins that wait for a TOTP code.';
create index log_in_challenges_by_expiry on identity.log_in_challenges (expires_at);

create table identity.log_in_tries (
  account bytea not null constraint log_in_tries_pkey primary key,
  tried_at timestamptz[] not null,
  last_tried_at timestamptz not null
);
comment on table identity.log_in_tries is 'Log-in tries of the last minutes by account, a digest of the address, known or not.';
create index log_in_tries_by_age on identity.log_in_tries (last_tried_at);

create table identity.audit_events (
  id uuid not null constraint audit_events_pkey primary key,
  tenant_id uuid,
  actor text not null,
  action text not null,
  target text not null,
  request_id text not null,
  changed_keys text[] not null default '{}',
  created_at timestamptz not null
);
comment on table identity.audit_events is 'Who did what (decision 5.6): names of what changed, never values. Rows are never changed. Without tenant: nobody known.';
create function identity.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed', tg_table_name;
end
$$;
create trigger audit_events_append_only before update on identity.audit_events
  for each row execute function identity.refuse_change();
