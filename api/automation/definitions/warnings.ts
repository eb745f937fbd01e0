import type { Automation, StoredAction } from '../../../db/models/automation/automation.js';
import { isAllowed } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { findSeat } from '../../platform/access/seats.js';
import { quoteName } from '../../platform/validation/given-name.js';
import { findConnections } from '../../integrations/connections/connections.js';
import { missingSecrets } from '../secrets/vault.js';
import { outboundTypes } from '../actions/registry.js';
import { secretHandles } from '../actions/secret-handles.js';
import { warnOfStages } from './check-stages.js';
import { CUSTOM_FIELDS } from '../../gate/staging/custom-values.js';
import { shortGates } from './short-gates.js';
import { warnOfPaths } from './template-paths.js';
import { listComparedTexts } from '../language/compared-choices.js';
import { findSecretHandles } from '../language/template.js';
import { findTaskFields, type TaskField } from '../../work/custom-fields/find-task-fields.js';

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

/** Choices of a field that a warning lists. */
const MAX_LISTED = 8;
const MAX_CHOICE_WARNINGS = 20;

/** Says what is wrong with texts that a condition compares the fields of these keys with. Fields without choices may have any text. */
function sayMisfits(
  fields: ReadonlyMap<string, TaskField>,
  { keys, texts, as }: ReturnType<typeof listComparedTexts>[number],
): string[] {
  const missing = keys.filter((key) => !fields.has(key));
  if (missing.length > 0) return missing.map((key) => `the tasks of the team have no field ${quoteName(key)}`);
  const meant = keys.map((key) => fields.get(key) as TaskField);
  const types = as === 'label' ? ['select'] : ['select', 'multi_select'];
  if (!meant.every(({ field_type }) => types.includes(field_type))) return [];
  const choices = meant.flatMap(({ options }) => options.map(({ value, label }) => (as === 'label' ? (label ?? value) : value)));
  const listed = `${choices.slice(0, MAX_LISTED).join(', ')}${choices.length > MAX_LISTED ? ', …' : ''}`;
  const name = meant.map((field) => field.name).join(', ');
  return texts
    .filter((text) => !choices.includes(text))
    .map((text) => `${name} has no choice ${quoteName(text)}${choices.length > 0 ? ` (it has ${listed})` : ''}`);
}

/** Warns of what conditions compare custom fields with and no task can have, so that they never, or always, hold. */
async function warnOfChoices(ctx: Context, { team_id, condition, actions }: SavedDefinition): Promise<string[]> {
  const sources = [
    { place: 'condition', source: condition },
    ...actions.map((action, index) => ({ place: `actions[${index}].if`, source: action.if })),
  ];
  const compared = sources.flatMap(({ place, source }) =>
    listComparedTexts(source ?? '').map((each) => ({ place, compared: each })),
  );
  const keys = [...new Set(compared.flatMap((each) => each.compared.keys))];
  if (team_id === null || keys.length === 0 || !isAllowed('custom_field.list', await findSeat(ctx, team_id))) return [];
  const found = await findTaskFields(ctx, [team_id], undefined, keys);
  const fields = new Map(found.map((field) => [field.key, field]));
  const said = compared.flatMap((each) => sayMisfits(fields, each.compared).map((text) => `${each.place}: ${text}`));
  return [...new Set(said)].slice(0, MAX_CHOICE_WARNINGS);
}

/**
 * Returns warnings about actions that will fail, and conditions that compare what is not there, unless something changes first. They do not prevent
 * saving: the secret, the connection or the field may be added later. Only team admins see the names of missing secrets.
 */
export const findWarnings = async (ctx: Context, saved: SavedDefinition): Promise<string[]> => [
  ...(await ofSecrets(ctx, saved)),
  ...(await ofConnections(ctx, saved)),
  ...(await shortGates(ctx, saved)),
  ...warnOfPaths(saved.trigger_type, saved.actions),
  ...(await warnOfStages(ctx, saved.team_id, saved.actions)),
  ...(await warnOfChoices(ctx, saved)),
  ...warnOfLoops(saved),
];
