import { type Role, ROLES } from '../../../db/models/rules.js';
import type { Actor } from './actor.js';
import { forbidden } from '../errors.js';

/** Team roles, lowest first. */
export const SEATS = ROLES;
export type Seat = Role;

interface Rule {
  /** Lowest role allowed. `none`: any signed-in caller; the operation checks ownership. */
  seat: Seat | 'none';
  /** Wording in the API document and the test of the access matrix. */
  words: string;
  /** False: personal access tokens are refused, whatever their scopes. */
  pat?: false;
  /** True: only personal access tokens are accepted. */
  patOnly?: true;
  /**
   * False: an impersonating admin is refused, because the result (an action, a right or a secret) would outlast the impersonation.
   */
  impersonated?: false;
  /** True: only runners are accepted, with their own tokens. */
  runnerOnly?: true;
  /** Administrators of the installation only, not impersonating. */
  instanceAdmin?: true;
}

/**
 * The single table of permissions. `endpoint({ability})` passes a rule to the router, the OpenAPI document and the generated
 * authorization test. The operation calls `authorize(ability, seat)` with the role read in its own transaction.
 */
const ABILITIES = {
  'account.read': { seat: 'none', words: 'Any signed-in caller, about themselves' },
  'account.write': { seat: 'none', words: 'Any signed-in caller, for themselves' },
  'account.leave': { seat: 'none', words: 'Any person, the sign-in they come with', pat: false },
  'account.session': { seat: 'none', words: 'Any person, about their own sign-ins', pat: false, impersonated: false },
  'account.renew': { seat: 'none', words: 'Any person, for the sign-in they come with', pat: false, impersonated: false },
  'account.security': { seat: 'none', words: 'Any person, for themselves', pat: false, impersonated: false },
  'token.read': { seat: 'none', words: 'Any person, about their own tokens', pat: false },
  'token.create': { seat: 'none', words: 'Any person, for themselves', pat: false, impersonated: false },
  'token.revoke': { seat: 'none', words: 'Any person, their own tokens', pat: false },
  'team.create': { seat: 'none', words: 'Any signed-in caller', impersonated: false },
  'team.list': { seat: 'none', words: 'Any signed-in caller; only own teams are listed' },
  'team.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'team.write': { seat: 'admin', words: 'Team admin' },
  'member.manage': { seat: 'admin', words: 'Team admin', impersonated: false },
  'member.remove': { seat: 'guest', words: 'Team admin; every member may remove themselves', impersonated: false },
  'invitation.list': { seat: 'none', words: 'Any signed-in caller, their own' },
  'invitation.accept': { seat: 'none', words: 'The invited user', impersonated: false },
  'project.list': { seat: 'none', words: 'Any signed-in caller; only own teams are listed' },
  'project.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'project.write': { seat: 'member', words: 'Team member or above; guests are read-only' },
  'task.list': { seat: 'guest', words: 'Any member of the team, guests too; only tasks of own teams are listed' },
  'task.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'task.write': { seat: 'member', words: 'Team member or above; guests are read-only' },
  'task.follow': { seat: 'guest', words: 'Any member of the team, guests too, for themselves', impersonated: false },
  'task.recur': { seat: 'member', words: 'Team member or above; guests are read-only', impersonated: false },
  'item.list': { seat: 'none', words: 'Any signed-in caller; only items of own teams are listed' },
  'item.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'item.write': { seat: 'member', words: 'Team member or above; guests are read-only' },
  'relation.write': {
    seat: 'member',
    words: 'Team member or above in the team of the source, who may read the target; guests are read-only',
  },
  'cycle.list': { seat: 'none', words: 'Any signed-in caller; only cycles of own teams are listed' },
  'cycle.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'cycle.write': { seat: 'member', words: 'Team member or above; guests are read-only' },
  'cycle.schedule': { seat: 'member', words: 'Team member or above, for a completion by date', impersonated: false },
  'search.use': { seat: 'none', words: 'Any signed-in caller; only items of own teams are found' },
  'cycle_time.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'custom_field.list': { seat: 'guest', words: 'Any member of the team, guests too; only fields of own teams are listed' },
  'custom_field.manage': { seat: 'manager', words: 'Team manager or above' },
  'custom_field.read': { seat: 'guest', words: 'Any member of the team, guests too' },
  'custom_field.set': { seat: 'member', words: 'Team member or above; guests are read-only' },
  'stage.list': { seat: 'guest', words: 'Any member of the team, guests too; only stages of own teams are listed' },
  'stage.manage': { seat: 'manager', words: 'Team manager or above' },
  'bulk.read': { seat: 'manager', words: 'Team manager or above' },
  'bulk.run': { seat: 'manager', words: 'Team manager or above', impersonated: false },
  'saved_view.read': { seat: 'none', words: 'Any signed-in caller: their own views, and those shared with their teams' },
  'saved_view.team': { seat: 'guest', words: 'Any member of the team, guests too' },
  'saved_view.write': { seat: 'member', words: 'Team member or above; guests are read-only' },
  'saved_view.own': { seat: 'none', words: 'The owner of the view, who is no guest of its team' },
  'agent.session': { seat: 'none', words: 'Any signed-in caller, their own sessions' },
  'agent.session_delete': {
    seat: 'none',
    words: 'Any signed-in caller, their own sessions; it discards what waits there',
    impersonated: false,
  },
  'agent.link': { seat: 'member', words: 'Team member or above in the team of the item; the session is the caller’s own' },
  'plan.read': { seat: 'none', words: 'Any signed-in caller: their own plans, and those of teams in which they may write' },
  'plan.decide': {
    seat: 'member',
    words: 'Team member or above in every team that the plan changes; a high risk in a plan of a team needs a manager',
    impersonated: false,
  },
  'plan.decide_high_risk': {
    seat: 'manager',
    words: 'Team manager or above, for a high risk in a plan of a team',
    impersonated: false,
  },
  'plan.edit': {
    seat: 'member',
    words: 'Users who may confirm the plan, signed in',
    pat: false,
    impersonated: false,
  },
  'plan.undo': { seat: 'member', words: 'Users who may read the plan and make its changes' },
  'trash.list': { seat: 'none', words: 'Any signed-in caller; only own teams are listed, guests too' },
  'trash.restore': { seat: 'member', words: 'Team member or above' },
  'trash.purge': { seat: 'manager', words: 'Team manager or above' },
  'trash.empty': { seat: 'admin', words: 'Team admin' },
  'activity.list': { seat: 'none', words: 'Any signed-in caller; only own teams’ activity is listed, guests too' },
  'event.read': { seat: 'none', words: 'Any signed-in caller; only changes of what they may read' },
  'audit.vocabulary': { seat: 'none', words: 'Any signed-in caller' },
  'audit.read': { seat: 'admin', words: 'Team admin, of a team whose plan includes the log' },
  'comment.read': { seat: 'guest', words: 'Anyone who may read the task' },
  'comment.moderate': { seat: 'manager', words: 'Team manager or above, for another person’s comment' },
  'comment.write': {
    seat: 'member',
    words: 'Team member or above; editing is the author’s, deleting the author’s or a manager’s',
  },
  'project_update.moderate': { seat: 'manager', words: 'Team manager or above, for another person’s update of a project' },
  'project_update.write': {
    seat: 'member',
    words: 'Team member or above; editing is the author’s, deleting the author’s or a manager’s',
  },
  'forge.status': { seat: 'none', words: 'Any signed-in caller' },
  'forge.read': { seat: 'admin', words: 'Team admin' },
  'forge.bind': { seat: 'admin', words: 'Team admin', impersonated: false },
  'forge.link': { seat: 'member', words: 'Team member or above' },
  'automation.catalogue': { seat: 'none', words: 'Any signed-in caller' },
  'automation.list': { seat: 'none', words: 'Any signed-in caller; only what is visible to them is listed' },
  'automation.read': { seat: 'guest', words: 'Any member of the team, guests too; personal ones their creator' },
  'automation.write': {
    seat: 'member',
    words:
      'Team member or above; another person’s automation needs a manager; a protected one, and saving or enabling what holds a secret without allowed hosts, needs an admin',
    impersonated: false,
  },
  'automation.manage': { seat: 'manager', words: 'Team manager or above, for another person’s automation' },
  'automation.protect': { seat: 'admin', words: 'Team admin', impersonated: false },
  'automation.take_over': {
    seat: 'manager',
    words: 'Team manager or above; a protected automation, or one that holds a secret without allowed hosts, needs an admin',
    impersonated: false,
  },
  'automation.dispatch': {
    seat: 'member',
    words:
      'The automation’s creator, or a manager of the team; starting what holds a secret without allowed hosts needs an admin',
    impersonated: false,
  },
  'secret.list': { seat: 'admin', words: 'Team admin' },
  'secret.write': { seat: 'admin', words: 'Team admin', impersonated: false },
  'secret.use_anywhere': { seat: 'admin', words: 'Team admin, for a secret without allowed hosts' },
  'webhook.read': { seat: 'admin', words: 'Team admin' },
  'webhook.write': { seat: 'admin', words: 'Team admin', impersonated: false },
  'runner.read': { seat: 'member', words: 'Team member or above' },
  'runner.manage': { seat: 'admin', words: 'Team admin', impersonated: false },
  'runner_job.write': { seat: 'manager', words: 'Team manager or above', impersonated: false },
  'runner.work': { seat: 'none', words: 'The runner itself, with its own token', runnerOnly: true },
  'integration.list': { seat: 'none', words: 'Any signed-in caller, their own connections' },
  'integration.connect': { seat: 'none', words: 'Any signed-in caller, for themselves', impersonated: false },
  'agent_settings.read': { seat: 'admin', words: 'Team admin' },
  'agent_settings.write': { seat: 'admin', words: 'Team admin', impersonated: false },
  'mcp.use': { seat: 'none', words: 'Any personal access token, with the rights of its owner', patOnly: true },
  'notification.list': { seat: 'none', words: 'Any signed-in caller, own notifications' },
  'notification.mark': {
    seat: 'none',
    words: 'Any signed-in caller, own notifications',
    impersonated: false,
  },
  'gate.decide': {
    seat: 'member',
    words: 'The role that the gate names, or above; manager where it names none',
    impersonated: false,
  },
  'request.create': { seat: 'member', words: 'Team member or above', impersonated: false },
  'request.read': { seat: 'member', words: 'Team member or above', impersonated: false },
  'request.list': {
    seat: 'none',
    words: 'Any signed-in caller; only requests of teams in which they are no guest are listed',
    impersonated: false,
  },
  'request.use': { seat: 'member', words: 'The requester, signed in or with any token of theirs', impersonated: false },
  'request.cancel': {
    seat: 'member',
    words: 'The requester, one of its approvers, or a manager of the team',
    impersonated: false,
  },
  'request.cancel_any': { seat: 'manager', words: 'Team manager or above', impersonated: false },
  'request.decide': {
    seat: 'member',
    words: 'The role that the request requires, or above; a token needs `approvals:decide` by name',
    impersonated: false,
  },
  'request.edit': { seat: 'member', words: 'Users who may approve the request, signed in', pat: false, impersonated: false },
  'gateway.read': { seat: 'member', words: 'Team member or above' },
  'gateway.manage': { seat: 'admin', words: 'Team admin', impersonated: false },
  'gateway.use': {
    seat: 'member',
    words: 'Any personal access token whose owner is a team member or above',
    patOnly: true,
    impersonated: false,
  },
  'request_rule.read': { seat: 'member', words: 'Team member or above' },
  'request_rule.write': { seat: 'admin', words: 'Team admin', impersonated: false },
  'instance.admin': {
    seat: 'none',
    words: 'Administrator of the installation, not impersonating',
    pat: false,
    impersonated: false,
    instanceAdmin: true,
  },
  'impersonation.stop': { seat: 'none', words: 'An impersonating admin', pat: false },
} as const satisfies Record<string, Rule>;

export type Ability = keyof typeof ABILITIES;

/** Returns the rule of an ability, with its optional parts. */
export const getRule = (ability: Ability): Rule => ABILITIES[ability];

/** Returns whether `seat` is at least `lowest`; null (not a member) is below every role. */
export const hasRoleAtLeast = (seat: Seat | null, lowest: Seat): boolean =>
  seat !== null && SEATS.indexOf(seat) >= SEATS.indexOf(lowest);

/** Abilities of the agent while it works on a message, or for an outside agent: those that only read (docs/adr/0018-the-agent-only-proposes.md). */
const PROPOSER_ABILITIES: readonly Ability[] = [
  'team.read',
  'project.list',
  'project.read',
  'task.list',
  'task.read',
  'item.list',
  'item.read',
  'comment.read',
  'search.use',
];

/** Returns why the ability rejects this kind of caller whatever the role; undefined if it does not. */
function blockReason(ability: Ability, actor: Actor): string | undefined {
  if (actor.type === 'proposer' && !PROPOSER_ABILITIES.includes(ability)) return 'The agent only reads and proposes';
  const { pat, patOnly, impersonated, instanceAdmin, runnerOnly } = getRule(ability);
  if (runnerOnly && !(actor.type === 'system' && actor.runner)) return 'Runners only, with their own tokens';
  if (patOnly && actor.type !== 'pat') return 'Personal access tokens only';
  const hasToken = actor.type === 'pat' || (actor.type === 'agent' && actor.by === 'pat');
  if (pat === false && hasToken) return 'Personal access tokens may not be used here';
  if (impersonated === false && actor.type === 'user' && actor.impersonatorId !== null) return 'Not while impersonating';
  if (instanceAdmin && !(actor.type === 'user' && actor.role === 'admin'))
    return 'This needs an administrator of the installation';
  return undefined;
}

/** Returns whether `checkCallerKind` accepts the caller; pages ask it before they offer an action. */
export const isAdmitted = (ability: Ability, actor: Actor): boolean => blockReason(ability, actor) === undefined;

/**
 * Rejects caller kinds that the ability forbids, whatever the role: tokens, impersonating admins, callers who are no
 * administrators. Dispatch calls it for every request, so operations do not repeat it.
 * @throws PERMISSION_DENIED
 */
export function checkCallerKind(ability: Ability, actor: Actor): void {
  const reason = blockReason(ability, actor);
  if (reason !== undefined) throw forbidden(reason);
}

/** Returns whether a role is sufficient for an ability. */
export function isAllowed(ability: Ability, seat: Seat | null): boolean {
  const lowest = getRule(ability).seat;
  return seat !== null && (lowest === 'none' || hasRoleAtLeast(seat, lowest));
}

/** Roles that are at least `lowest`. */
export const rolesFrom = (lowest: Seat): Seat[] => SEATS.filter((seat) => hasRoleAtLeast(seat, lowest));

/** Roles that an ability admits, for a statement that checks the role itself: it takes them as a parameter. */
export const rolesFor = (ability: Ability): Seat[] => SEATS.filter((seat) => isAllowed(ability, seat));

/**
 * Rejects a caller whose role in the resource's team is below the ability's.
 * @throws PERMISSION_DENIED; the text differs for non-members and members
 */
export function authorize(ability: Ability, seat: Seat | null): void {
  if (isAllowed(ability, seat)) return;
  if (seat === null) throw forbidden('You are not a member of this team');
  throw forbidden(seat === 'guest' ? 'Guests have read-only access' : `Requires the ${getRule(ability).seat} role in the team`);
}

/**
 * Lets only a signed-in person pass, where a decision is not left to tokens (docs/decisions/gate.md#signed-in-decisions).
 * @throws PERMISSION_DENIED `signed_in_required`
 */
export function requireSession({ type }: Actor): void {
  if (type === 'user') return;
  throw forbidden('Only a signed-in person may decide this, no token', { extra: { reason: 'signed_in_required' } });
}
