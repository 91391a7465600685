-- What is done goes after a time.
create index charge_withdrawals_done on payments.charge_withdrawals (done_at) where done_at is not null;
create index provider_callbacks_ended on payments.provider_callbacks (received_at) where next_try_at is null;
