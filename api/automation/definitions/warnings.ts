import type { Automation, StoredAction } from '../../../db/models/automation/automation.js';
import { isAllowed } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { findSeat } from '../../platform/access/seats.js';
import { findConnections } from '../../integrations/connections/connections.js';
import { missingSecrets } from '../secrets/vault.js';
import { outboundTypes } from '../actions/registry.js';
import { secretHandles } from '../actions/secret-handles.js';
import { warnOfStages } from './check-stages.js';
import { CUSTOM_FIELDS } from '../../gate/staging/custom-values.js';
import { shortGates } from './short-gates.js';
import { warnOfPaths } from './template-paths.js';
import { findSecretHandles } from '../language/template.js';

type SavedDefinition = Pick<Automation, 'team_id' | 'created_by' | 'updated_by' | 'trigger_type' | 'condition' | 'actions'>;

const getType = ({ type }: StoredAction) => outboundTypes()[type];

/** Names missing secrets only to users who may list secrets: the absence of a warning would reveal a name. */
async function ofMissingSecrets(ctx: Context, teamId: string, names: string[]): Promise<string[]> {
  if (names.length === 0 || !isAllowed('secret.list', await findSeat(ctx, teamId))) return [];
  return (await missingSecrets(ctx, teamId, names)).map((name) => `Secret ${name} does not exist yet`);
}

async function ofSecrets(ctx: Context, { team_id, actions }: SavedDefinition): Promise<string[]> {
  const idle = actions.flatMap((action, index) =>
    !getType(action)?.secrets && findSecretHandles(action.params).length > 0
      ? [`actions[${index}]: ${action.type} does not support secrets`]
      : [],
  );
  const needed = secretHandles(actions.filter((action) => getType(action)?.secrets));
  const missing =
    team_id === null
      ? needed.map((name) => `Personal automations have no secrets: ${name} will be missing`)
      : await ofMissingSecrets(ctx, team_id, needed);
  return [...idle, ...missing];
}

/** Uses the creator's connections, which requires that the creator saved the actions. */
async function ofConnections(ctx: Context, { created_by, updated_by, actions }: SavedDefinition): Promise<string[]> {
  const integrated = actions.flatMap((action, index) => {
    const integration = getType(action)?.integration;
    return integration ? [{ place: `actions[${index}]`, ...integration }] : [];
  });
  if (integrated.length === 0) return [];
  if (updated_by !== created_by) {
    return integrated.map(
      ({ place, provider }) => `${place}: fails until the creator saves it, because it uses their connection to ${provider}`,
    );
  }
  const connections = await findConnections(ctx, created_by);
  return integrated.flatMap(({ place, provider, scopes }) => {
    const granted = connections.get(provider)?.scopes;
    if (!granted) return [`${place}: the automation’s creator has not connected ${provider} yet`];
    const missing = scopes.filter((scope) => !granted.includes(scope));
    return missing.length > 0 ? [`${place}: the creator’s connection to ${provider} lacks ${missing.join(', ')}`] : [];
  });
}

/** Says something of each action that is meant, with its place. */
const sayOf = (actions: SavedDefinition['actions'], isMeant: (action: StoredAction) => boolean, text: string): string[] =>
  actions.flatMap((action, index) => (isMeant(action) ? [`actions[${index}]: ${text}`] : []));

/** Actions that write the event of a trigger, whatever their parameters are. */
const STARTS_ITSELF: Readonly<Record<string, string>> = { 'comment.created': 'add_comment', 'task.created': 'create_task' };

/** An automation that writes what starts it runs in a circle, unless its condition leaves its own changes out. */
const warnOfLoops = ({ trigger_type, condition, actions }: SavedDefinition): string[] =>
  condition
    ? []
    : sayOf(
        actions,
        ({ type }) => type === STARTS_ITSELF[trigger_type],
        'starts this automation again, up to ten times. A condition can leave out what it writes itself',
      );

const CHANGES_TASK = ['update_task', 'set_task_status', 'assign_task'];

/** Of a trigger: the actions that write its event where they change something, and how a condition asks what changed. */
const OWN_CHANGES: Readonly<Record<string, { isOwn: (action: StoredAction) => boolean; asks: string; example: string }>> = {
  'task.updated': {
    isOwn: ({ type }) => CHANGES_TASK.includes(type),
    asks: 'event.changes',
    example: 'what changed, such as has(event.changes.due_date)',
  },
  'task.field_changed': {
    isOwn: ({ params }) => Object.hasOwn(params, CUSTOM_FIELDS),
    asks: 'event.field',
    example: 'which field changed, such as event.field.key == "severity"',
  },
};

/**
 * Returns what a person should know of an automation that changes what starts it: once more it finds nothing to change, so that its gate asks about nothing,
 * unless its condition asks what changed. It works, so programs are not warned.
 */
export function hintAtOwnChanges({
  trigger_type,
  condition,
  actions,
}: Pick<SavedDefinition, 'trigger_type' | 'condition' | 'actions'>): string[] {
  const own = OWN_CHANGES[trigger_type];
  if (!own || condition?.includes(own.asks)) return [];
  return sayOf(
    actions,
    own.isOwn,
    `its own change starts this automation again. A condition on ${own.example}, can leave that out`,
  );
}

/**
 * Returns warnings about actions that will fail unless something changes first. They do not prevent saving: the secret or the
 * connection may be added later. Only team admins see the names of missing secrets.
 */
export const findWarnings = async (ctx: Context, saved: SavedDefinition): Promise<string[]> => [
  ...(await ofSecrets(ctx, saved)),
  ...(await ofConnections(ctx, saved)),
  ...(await shortGates(ctx, saved)),
  ...warnOfPaths(saved.trigger_type, saved.actions),
  ...(await warnOfStages(ctx, saved.team_id, saved.actions)),
  ...warnOfLoops(saved),
];
