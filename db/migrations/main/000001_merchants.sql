create schema payments;
comment on schema payments is 'The payments service; nothing else reads it.';
create schema storefront;
comment on schema storefront is 'The storefront service; nothing else reads it.';

create table payments.merchants (
  id uuid not null constraint merchants_pkey primary key,
  tenant_id uuid not null,
  name text not null constraint merchants_name_length check (length(name) between 1 and 200),
  status text not null constraint merchants_status check (status in ('draft', 'submitted', 'approved', 'rejected')),
  city text not null constraint merchants_city_length check (length(city) between 1 and 100),
  postal_code text not null constraint merchants_postal_code_digits check (postal_code ~ '^[0-9]{5}$'),
  category_code text not null constraint merchants_category_code_digits check (category_code ~ '^[0-9]{4}$'),
  national_merchant_id text not null constraint merchants_national_merchant_id_form check (national_merchant_id ~ '^ID[0-9]{13}$'),
  app_schemes text[] not null default '{}',
  created_at timestamptz not null,
  constraint merchants_tenant_key unique (tenant_id, id)
);
comment on table payments.merchants is 'Businesses that take payments. Each belongs to one tenant of the identity service.';

create table payments.merchant_channels (
  tenant_id uuid not null,
  merchant_id uuid not null,
  channel text not null constraint merchant_channels_code check (channel ~ '^[a-z][a-z0-9_]{1,39}$'),
  enabled boolean not null,
  constraint merchant_channels_pkey primary key (merchant_id, channel),
  constraint merchant_channels_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id)
);
comment on table payments.merchant_channels is 'Channels a merchant may use; a channel without a row is off.';

create table payments.customers (
  id uuid not null constraint customers_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  name text,
  email text,
  phone text,
  created_at timestamptz not null,
  constraint customers_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id),
  constraint customers_owner_key unique (tenant_id, merchant_id, id)
);
comment on table payments.customers is 'Stored payers of a merchant.';

create table payments.api_keys (
  id uuid not null constraint api_keys_pkey primary key,
  tenant_id uuid not null,
  merchant_id uuid not null,
  name text not null constraint api_keys_name_length check (length(name) between 1 and 200),
  prefix text not null constraint api_keys_prefix_form check (prefix ~ '^sk_(test|live)_[0-9A-Za-z]{4}$'),
  key_sha256 bytea not null constraint api_keys_key_sha256_key unique
    constraint api_keys_key_sha256_length check (length(key_sha256) = 32),
  scopes text[] not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_merchant_fkey foreign key (tenant_id, merchant_id) references payments.merchants (tenant_id, id),
  constraint api_keys_prefix_key unique (tenant_id, prefix)
);
comment on table payments.api_keys is 'Merchant server credentials (decision 5.1). Only the digest of a key is here; the prefix is for people.';
create index api_keys_by_merchant on payments.api_keys (merchant_id, created_at desc, id desc);
