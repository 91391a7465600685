-- Deliveries are counted as intents, payments and events are: a list of them does not get slower with what is done.
alter table payments.list_totals drop constraint list_totals_list;
alter table payments.list_totals add constraint list_totals_list check (list in ('intents', 'payments', 'events', 'deliveries'));
alter table payments.list_changes drop constraint list_changes_list;
alter table payments.list_changes add constraint list_changes_list check (list in ('intents', 'payments', 'events', 'deliveries'));

create function payments.count_added_deliveries() returns trigger language plpgsql as $$
begin
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'deliveries', merchant_id, count(*) from added group by tenant_id, merchant_id;
  return null;
end
$$;
create function payments.count_removed_deliveries() returns trigger language plpgsql as $$
begin
  insert into payments.list_changes (tenant_id, list, merchant_id, change)
  select tenant_id, 'deliveries', merchant_id, -count(*) from removed group by tenant_id, merchant_id;
  return null;
end
$$;

-- Nothing is written between the count and the triggers.
lock table payments.webhook_deliveries in share row exclusive mode;
insert into payments.list_totals (tenant_id, list, merchant_id, total)
select tenant_id, 'deliveries', merchant_id, count(*) from payments.webhook_deliveries group by tenant_id, merchant_id;
create trigger webhook_deliveries_counted after insert on payments.webhook_deliveries
  referencing new table as added for each statement execute function payments.count_added_deliveries();
create trigger webhook_deliveries_uncounted after delete on payments.webhook_deliveries
  referencing old table as removed for each statement execute function payments.count_removed_deliveries();
