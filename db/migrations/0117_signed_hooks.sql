-- The signing secret of an address, if its maker asked for one: calls are then signed as Standard Webhooks.
alter table automation_hooks add data_key bytea, add sealed_value bytea,
  add constraint automation_hooks_secret check ((data_key is null) = (sealed_value is null));
