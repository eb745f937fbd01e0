/** Features that an audit entry or an activity line may belong to. */
export type Feature =
  | 'admin'
  | 'approvals'
  | 'audit'
  | 'auth'
  | 'automations'
  | 'comments'
  | 'forge'
  | 'integrations'
  | 'outbox'
  | 'projects'
  | 'secrets'
  | 'tasks'
  | 'teams'
  | 'tokens';

/** Entities that an audit entry or an activity line may be about. */
export type EntityType =
  | 'audit_chain'
  | 'automation'
  | 'automation_run'
  | 'comment'
  | 'forge_repository'
  | 'forge_webhook'
  | 'integration'
  | 'outbox_row'
  | 'project'
  | 'secret'
  | 'session'
  | 'task'
  | 'task_series'
  | 'team'
  | 'token'
  | 'trusted_device'
  | 'user';
