import type { EntityType } from '../../platform/changes/change-kinds.js';
import { type Ability, getRule, hasRoleAtLeast, isAdmitted, type Seat } from '../../platform/access/access.js';
import type { Actor } from '../../platform/access/actor.js';
import { passesIfStrict } from '../../platform/access/require-scope.js';
import type { Scope } from '../../platform/access/scopes.js';
import type { Config } from '../../platform/config.js';
import { EVENTS } from '../../platform/events/event-types.js';

/** Who may know of the changes of an entity. */
interface Reader {
  /** Ability that reads the entity. */
  ability: Ability;
  /** Scope that the routes that read it require of tokens. */
  scope?: Scope;
  /** Lowest role in the team, where the ability leaves that to its operation; `none`: the changes of a team are nobody's. */
  seat?: Seat | 'none';
}

type LiveEntity = EntityType | 'deprovision_job' | 'membership' | 'notification';

const ITEM: Reader = { ability: 'item.read', scope: 'tasks:read' };
const AUTOMATION: Reader = { ability: 'automation.read', scope: 'automations:read' };
const OWN = 'none';

/**
 * Every entity with the ability and the scope of the routes that read it; null for what is no state that a client follows. The rights are those
 * of a reading, not of a subscription: they are judged for each change when it is given out.
 */
const READERS: Readonly<Record<LiveEntity, Reader | null>> = {
  agent_plan: { ability: 'plan.read', scope: 'ai:chat', seat: 'member' },
  agent_session: { ability: 'agent.session', scope: 'ai:chat', seat: OWN },
  agent_settings: { ability: 'agent_settings.read', scope: 'admin:*' },
  audit_chain: null,
  audit_log: null,
  automation: AUTOMATION,
  automation_run: AUTOMATION,
  bulk_job: { ability: 'bulk.read', scope: 'admin:*' },
  change_request: { ability: 'request.read', scope: 'requests:read' },
  comment: { ability: 'comment.read', scope: 'tasks:read' },
  custom_field: { ability: 'custom_field.list', scope: 'tasks:read' },
  cycle: { ability: 'cycle.read', scope: 'tasks:read' },
  deprovision_job: { ability: 'instance.admin', seat: OWN },
  doc: ITEM,
  file: ITEM,
  forge_repository: { ability: 'forge.read', scope: 'automations:read' },
  forge_webhook: null,
  integration: { ability: 'integration.list', scope: 'automations:read', seat: OWN },
  mcp_upstream: { ability: 'gateway.read', scope: 'requests:read' },
  membership: { ability: 'team.list', scope: 'teams:read', seat: OWN },
  note: ITEM,
  notification: { ability: 'notification.list', scope: 'automations:read', seat: OWN },
  outbox_row: null,
  project: { ability: 'project.read', scope: 'projects:read' },
  project_update: { ability: 'project.read', scope: 'projects:read' },
  relation: { ability: 'item.read', scope: 'graph:read' },
  request_rules: { ability: 'request_rule.read', scope: 'requests:read' },
  runner: { ability: 'runner.read', scope: 'automations:read' },
  runner_job: { ability: 'runner.read', scope: 'automations:read' },
  saved_view: { ability: 'saved_view.team', scope: 'tasks:read' },
  secret: { ability: 'secret.list', scope: 'automations:read' },
  session: { ability: 'account.session', seat: OWN },
  stage: { ability: 'stage.list', scope: 'tasks:read' },
  task: { ability: 'task.read', scope: 'tasks:read' },
  task_series: { ability: 'task.read', scope: 'tasks:read' },
  team: { ability: 'team.read', scope: 'teams:read' },
  token: { ability: 'token.read', seat: OWN },
  trusted_device: { ability: 'account.security', seat: OWN },
  user: { ability: 'account.read', seat: OWN },
  webhook: { ability: 'webhook.read', scope: 'automations:read' },
  whiteboard: ITEM,
};

/** What the rights of a caller are judged by. */
export interface Subject {
  actor: Exclude<Actor, { type: 'system' }>;
  config: Config;
}

/** What a change is about. `isOwn`: it is the user's, of no team. */
export interface About {
  entity_type: string;
  entity_id: string | null;
  isOwn: boolean;
}

const hasSeat = ({ ability, seat }: Reader, role: Seat | null): boolean => {
  const lowest = seat ?? getRule(ability).seat;
  return lowest !== 'none' && hasRoleAtLeast(role, lowest);
};

/** Returns whether the caller may read what changed: by its kind, the token's scopes, and the role in the team, which is null for a non-member. */
export function mayRead({ actor, config }: Subject, { entity_type, entity_id, isOwn }: About, role: Seat | null): boolean {
  const reader = READERS[entity_type as LiveEntity] ?? null;
  if (reader === null || !isAdmitted(reader.ability, actor)) return false;
  if (reader.scope !== undefined && !passesIfStrict({ actor, config }, reader.scope)) return false;
  // What an administrator did to the account of another user is in the audit log.
  if (isOwn) return entity_type !== 'user' || entity_id === actor.userId;
  return hasSeat(reader, role);
}

const PAST: Readonly<Record<string, string>> = {
  add: 'added',
  answer: 'answered',
  deny: 'denied',
  block: 'blocked',
  cancel: 'cancelled',
  confirm: 'confirmed',
  deprovision: 'deprovisioned',
  discard: 'discarded',
  end: 'ended',
  enroll: 'enrolled',
  import: 'imported',
  join: 'joined',
  link: 'linked',
  redeem: 'redeemed',
  reject: 'rejected',
  report: 'reported',
  retry: 'retried',
  rollback: 'rolled_back',
  start: 'started',
  suspend: 'suspended',
  switch: 'switched',
  undo: 'undone',
  unlink: 'unlinked',
  verify: 'verified',
  ...Object.fromEntries(
    'approve archive change claim complete create decline delete execute expire invite purge reinstate remove restore revoke rotate stage toggle update'
      .split(' ')
      .map((verb) => [verb, `${verb}d`]),
  ),
};

/** Returns an action as what has happened: `updated` of `update`, `role_changed` of `change_role`; a state stays as it is. */
function pastOf(action: string): string {
  const [verb = '', ...object] = action.split('_');
  const past = PAST[verb];
  return past === undefined ? action : [...object, past].join('_');
}

/** Returns the name of a change: that of webhooks and automations where they have one, else the entity and what happened to it. */
export const nameChange = (change: { event_type: string | null; entity_type: string; action: string }): string =>
  change.event_type ?? `${change.entity_type}.${pastOf(change.action)}`;

/** First words of all names: entities, and families of events. */
export const FAMILIES: ReadonlySet<string> = new Set([
  ...Object.entries(READERS).flatMap(([entity, reader]) => (reader ? [entity] : [])),
  ...EVENTS.map(([name]) => name.slice(0, name.indexOf('.'))),
]);

/** Returns whether a filter lets a change pass: empty, or one of its words is its name, the first word of that, or its entity. */
export const passesTypes = (types: ReadonlySet<string>, name: string, entityType: string): boolean =>
  types.size === 0 || types.has(name) || types.has(entityType) || types.has(name.slice(0, name.indexOf('.')));
