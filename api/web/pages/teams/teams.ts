import { z } from 'zod';
import { isAdmitted, SEATS, isAllowed } from '../../../platform/access/access.js';
import { listMarkedAutomations } from '../../../automation/definitions/ownership/list-marked.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { Text, Title } from '../../../platform/fields.js';
import { addMember } from '../../../identity/teams/add-member.js';
import { changeRole } from '../../../identity/teams/change-role.js';
import { createTeam } from '../../../identity/teams/create-team.js';
import { getTeam } from '../../../identity/teams/get-team.js';
import { invitationPath } from '../../../identity/teams/invitations/invitation-link.js';
import { listInvitations } from '../../../identity/teams/invitations/list-invitations.js';
import { listOwnInvitations } from '../../../identity/teams/invitations/list-own-invitations.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import { readOwnTeams } from '../../../identity/teams/read-team.js';
import { removeMember } from '../../../identity/teams/remove-member.js';
import { AddMember, ChangeRole, MemberParams, TeamParams, UpdateTeam } from '../../../identity/teams/schema.js';
import { updateTeam } from '../../../identity/teams/update-team.js';
import { SHOWN } from './invitations.js';
import { webAddress } from '../../../platform/config.js';
import { createByApi } from '../../wording/create-by-api.js';
import { page, type Page, requireUser, type FormError, type View, type PageRequest } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { HOME } from '../../server/safe-path.js';

/** Projects that the page of a team lists. */
const MAX_PROJECTS = 100;

/** Addresses that one form invites. */
const MAX_INVITED = 20;
const Address = AddMember.shape.email.unwrap();
/** `lee@example.com, Ana <ana@example.com>`: addresses as people paste them, each once, in an order that no two forms wait for crosswise. */
const Addresses = Text.max(MAX_INVITED * 400).transform((typed, context): string[] => {
  const words = typed.split(/[\s,;<>]+/).filter((word) => word.includes('@'));
  const parsed = (words.length > 0 ? words : [typed.trim()]).map((word) => [word, Address.safeParse(word)] as const);
  const wrong = parsed.find(([, { success }]) => !success);
  const message = wrong
    ? parsed.length > 1
      ? `“${wrong[0].slice(0, 100)}” is no email address`
      : 'must be an email address'
    : null;
  const found = [...new Set(parsed.flatMap(([, { data }]) => data ?? []))].sort();
  const tooMany = found.length > MAX_INVITED ? `must be at most ${MAX_INVITED} addresses` : null;
  if (message ?? tooMany) context.addIssue({ code: 'custom', message: (message ?? tooMany) as string });
  return found;
});

/** Invites all of the addresses or none; an error names the address. */
const inviteAll = (ctx: Context, teamId: string, addresses: readonly string[], role: AddMember['role']): Promise<unknown> =>
  inTransaction(ctx, async (ctx) => {
    for (const email of addresses)
      await addMember(ctx, teamId, { email, role }).catch((error: unknown) => {
        if (addresses.length === 1 || !(error instanceof DomainError)) throw error;
        throw new DomainError(error.code, `“${email}”: ${error.message}`, { detail: error.detail, status: error.status });
      });
  });

const teamPath = (teamId: string) => `/app/teams/${teamId}`;

async function showTeams({ ctx, me }: Pick<PageRequest, 'ctx' | 'me'>, problem?: FormError, given: Fields = {}): Promise<View> {
  const [teams, invitations] = await Promise.all([readOwnTeams(ctx), listOwnInvitations(ctx, SHOWN)]);
  const roles = Object.fromEntries(requireUser({ me }).teams.map(({ team_id, role }) => [team_id, role]));
  return { view: 'teams/teams', title: 'Teams', data: { teams, invitations, roles, problem, given } };
}

/** `form` names the rejected form. */
async function showTeam(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  teamId: string,
  refused: { form?: string; problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, members, automations, projects] = await Promise.all([
    getTeam(ctx, teamId),
    listMembers(ctx, teamId),
    listMarkedAutomations(ctx, teamId),
    listProjects(ctx, { team_id: teamId, limit: MAX_PROJECTS, offset: 0 }),
  ]);
  const role = members.find(({ user_id }) => user_id === requireUser({ me }).user_id)?.role ?? null;
  const manages = isAllowed('member.manage', role);
  const leads = isAllowed('automation.take_over', role) && isAdmitted('automation.take_over', ctx.actor);
  const readsRules = isAllowed('request_rule.read', role);
  const keepsSecrets = isAllowed('secret.list', role) && isAdmitted('secret.list', ctx.actor);
  const sendsEvents = isAllowed('webhook.read', role) && isAdmitted('webhook.read', ctx.actor);
  const bindsCode = isAllowed('forge.read', role) && isAdmitted('forge.read', ctx.actor);
  const audits = isAllowed('audit.read', role) && isAdmitted('audit.read', ctx.actor);
  const setsAgent = isAllowed('agent_settings.read', role) && isAdmitted('agent_settings.read', ctx.actor);
  const movesData = isAllowed('bulk.read', role) && isAdmitted('bulk.read', ctx.actor);
  const invitations = manages ? await listInvitations(ctx, teamId) : [];
  const links = Object.fromEntries(
    invitations
      .filter(({ status }) => status === 'pending')
      .map(({ invitation_id: id }) => [id, webAddress(ctx.config, invitationPath(ctx.config, id))]),
  );
  const creates = isAllowed('automation.write', role) && isAdmitted('automation.write', ctx.actor);
  const command = creates ? createByApi(webAddress(ctx.config, '/api/automations'), teamId) : null;
  return {
    view: 'teams/team',
    title: team.name,
    data: {
      team,
      members,
      projects: projects.map((text) => JSON.parse(text) as { project_id: string; name: string; status: string }),
      movesData,
      manages,
      readsRules,
      keepsSecrets,
      sendsEvents,
      bindsCode,
      audits,
      setsAgent,
      leads,
      automations,
      invitations,
      links,
      creates,
      command,
      seats: SEATS,
      ...refused,
    },
  };
}

const teamForms: Page[] = [
  page({
    method: 'post',
    path: '/app/teams',
    access: 'team.create',
    form: z.object({ name: Title(100), description: Text.max(500).optional() }),
    async handle({ ctx, me, form }) {
      const team = await createTeam(ctx, { name: form.name, description: form.description || null });
      // The first steps go on there.
      if (requireUser({ me }).teams.length === 0)
        return { to: HOME, notice: { kind: 'good', text: `Team “${team.name}” created. Go on with the next step.` } };
      return { to: teamPath(team.team_id), notice: { kind: 'good', text: 'Team created.' } };
    },
    onError: (visit, problem) => showTeams(visit, problem, visit.form),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id',
    access: 'team.write',
    params: TeamParams,
    form: z.object({
      name: Title(100),
      key: UpdateTeam.shape.key,
      description: Text.max(500).optional(),
      decisions_signed_in: z.literal('yes').optional(),
    }),
    async handle({ ctx, params, form }) {
      const { decisions_signed_in, description, ...fields } = form;
      const decisions = { decisions_signed_in: decisions_signed_in === 'yes' };
      await updateTeam(ctx, params.team_id, { ...fields, description: description || null, ...decisions });
      return { to: teamPath(params.team_id), notice: { kind: 'good', text: 'Saved.' } };
    },
    onError: (visit, problem) => showTeam(visit, visit.params.team_id, { form: 'team', problem, given: visit.form }),
  }),
];

const memberForms: Page[] = [
  page({
    method: 'post',
    path: '/app/teams/:team_id/members',
    access: 'member.manage',
    params: TeamParams,
    form: z.object({ email: Addresses, role: AddMember.shape.role }),
    async handle({ ctx, params, form: { email, role } }) {
      await inviteAll(ctx, params.team_id, email, role);
      const [one, ...others] = email;
      const text =
        others.length === 0
          ? `${one as string} was invited. The invitation expires in 7 days.`
          : `${email.length} people were invited. The invitations expire in 7 days.`;
      return { to: teamPath(params.team_id), notice: { kind: 'good', text } };
    },
    onError: (visit, problem) => showTeam(visit, visit.params.team_id, { form: 'member', problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/members/:user_id',
    access: 'member.manage',
    params: MemberParams,
    form: ChangeRole,
    async handle({ ctx, params, form }) {
      const { display_name, role } = await changeRole(ctx, params.team_id, params.user_id, form.role);
      return { to: teamPath(params.team_id), notice: { kind: 'good', text: `${display_name} is now ${role}.` } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: teamPath(params.team_id), notice: { kind: 'bad', text: message } }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/members/:user_id/remove',
    access: 'member.remove',
    params: MemberParams,
    async handle({ ctx, me, params }) {
      const tasks = await removeMember(ctx, params.team_id, params.user_id);
      const left = params.user_id === requireUser({ me }).user_id;
      const text = `${left ? 'You left the team.' : 'Removed.'}${tasks > 0 ? ` Tasks now unassigned: ${tasks}.` : ''}`;
      return { to: left ? '/app/teams' : teamPath(params.team_id), notice: { kind: 'good', text } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: teamPath(params.team_id), notice: { kind: 'bad', text: message } }),
  }),
];

export const teamPages: Page[] = [
  page({ method: 'get', path: '/app/teams', access: 'team.list', handle: (visit) => showTeams(visit) }),
  page({
    method: 'get',
    path: '/app/teams/:team_id',
    access: 'team.read',
    params: TeamParams,
    handle: (visit) => showTeam(visit, visit.params.team_id),
  }),
  ...teamForms,
  ...memberForms,
];
