/** Features that an audit entry or an activity line may belong to, in the order in which the API lists them. */
export const FEATURES = [
  'auth',
  'tokens',
  'teams',
  'projects',
  'tasks',
  'comments',
  'notes',
  'files',
  'work_graph',
  'ai_agent',
  'automations',
  'approvals',
  'requests',
  'secrets',
  'audit',
  'forge',
  'webhooks',
  'runners',
  'cycles',
  'custom_fields',
  'saved_views',
  'bulk_data',
  'admin',
  'billing',
] as const;
export type Feature = (typeof FEATURES)[number];

/** Severities of an audit entry, lowest first. */
export const SEVERITIES = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Entities that an audit entry or an activity line may be about. */
export type EntityType =
  | 'agent_plan'
  | 'agent_session'
  | 'agent_settings'
  | 'audit_chain'
  | 'audit_log'
  | 'automation'
  | 'automation_run'
  | 'bulk_job'
  | 'change_request'
  | 'comment'
  | 'cycle'
  | 'custom_field'
  | 'doc'
  | 'file'
  | 'forge_repository'
  | 'forge_webhook'
  | 'integration'
  | 'mcp_upstream'
  | 'note'
  | 'outbox_row'
  | 'project'
  | 'project_update'
  | 'relation'
  | 'request_rules'
  | 'runner'
  | 'runner_job'
  | 'saved_view'
  | 'secret'
  | 'session'
  | 'stage'
  | 'task'
  | 'task_series'
  | 'team'
  | 'token'
  | 'trusted_device'
  | 'user'
  | 'webhook'
  | 'whiteboard';
