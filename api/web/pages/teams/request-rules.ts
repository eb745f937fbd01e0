import { z } from 'zod';
import { getRules } from '../../../gate/requests/rules/read-rules.js';
import { saveRules } from '../../../gate/requests/rules/save-rules.js';
import { MAX_RULES, RequestRuleFields, type RequestRules } from '../../../gate/requests/rules/schema.js';
import { REQUEST_ROLES } from '../../../gate/requests/schema.js';
import { DEFAULT_REQUIREMENT } from '../../../gate/requirement/request-rules.js';
import { getTeam } from '../../../identity/teams/get-team.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { invalid } from '../../../platform/errors.js';
import { type FormError, page, type Page, type PageRequest, type Redirect, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const PATH = '/app/teams/:team_id/request-rules';
const buildPath = (teamId: string) => `/app/teams/${teamId}/request-rules`;

/** Place of a rule in the list that the user saw. */
const Place = z.coerce.number().int().min(0).max(99);
/** The list that the user saw: another one is not changed. */
const Version = z.coerce.number().int().min(0);
/** An empty field takes the default. */
const orNull = <T extends z.ZodType>(field: T) =>
  z.preprocess((given) => (given === '' || given === undefined ? null : given), field);
/** A box that is not ticked sends nothing. */
const Ticked = z
  .unknown()
  .optional()
  .transform((given) => given !== undefined);
const { system, name, target, role } = RequestRuleFields;
const RuleForm = z.object({
  version: Version,
  place: z.preprocess((given) => (given === '' ? undefined : given), Place.optional()),
  system,
  name,
  // An operation without a target has the empty one, so that it may be empty.
  target,
  role: orNull(role),
  approvals: orNull(z.coerce.number().int().min(1, 'must be from 1 to 5').max(5, 'must be from 1 to 5').nullable()),
  allow_self: Ticked,
  require_code: Ticked,
  is_denied: Ticked,
  max_use_seconds: orNull(
    z.coerce.number().int().min(30, 'must be from 30 to 86400').max(86_400, 'must be from 30 to 86400').nullable(),
  ),
});

type Rule = Omit<RequestRules['rules'][number], 'rule_id'>;

/** Replaces the rules by what an edit makes of those that the user saw: of others the version differs. @throws the errors of `saveRules` */
async function change(ctx: Context, teamId: string, version: number, edit: (rules: readonly Rule[]) => Rule[]): Promise<void> {
  const rules = edit((await getRules(ctx, teamId)).rules);
  if (rules.length > MAX_RULES) throw invalid(`A team has at most ${MAX_RULES} rules`);
  await saveRules(ctx, teamId, { rules }, version);
}

/** A rule as the fields of its form. */
const toFields = ({ approvals, max_use_seconds, ...rule }: Rule) => ({
  ...rule,
  approvals: approvals?.toString(),
  max_use_seconds: max_use_seconds?.toString(),
});

async function showRules(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  teamId: string,
  { problem, given = {}, place }: { problem?: FormError; given?: Fields; place?: number | undefined } = {},
): Promise<View> {
  const team = await getTeam(ctx, teamId);
  const { rules, version } = await getRules(ctx, teamId);
  const seat = (requireUser({ me }).teams.find(({ team_id }) => team_id === teamId)?.role ?? null) as Seat | null;
  const edited = place === undefined ? undefined : rules[place];
  const data = {
    team,
    rules,
    version,
    manages: isAllowed('request_rule.write', seat),
    roles: REQUEST_ROLES,
    defaults: DEFAULT_REQUIREMENT,
    place: edited ? place : undefined,
    problem,
    given: problem ? given : edited ? toFields(edited) : { name: '*', target: '*' },
    most: MAX_RULES,
  };
  return { view: 'teams/request-rules', title: 'Rules for change requests', data };
}

/** Why a button of the list was refused, on the page of the list. */
const bounced = ({ params }: { params: { team_id: string } }, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: buildPath(params.team_id), notice: { kind: 'bad', text: message } });

export const requestRulePages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    access: 'request_rule.read',
    params: TeamParams,
    query: z.object({ edit: Place.optional().catch(undefined) }),
    handle: (visit) => showRules(visit, visit.params.team_id, { place: visit.query.edit }),
  }),
  page({
    method: 'post',
    path: PATH,
    access: 'request_rule.write',
    params: TeamParams,
    form: RuleForm,
    async handle({ ctx, params: { team_id }, form: { version, place, ...rule } }) {
      await change(ctx, team_id, version, (rules) =>
        place === undefined ? [...rules, rule] : rules.map((one, at) => (at === place ? rule : one)),
      );
      return {
        to: buildPath(team_id),
        notice: { kind: 'good', text: place === undefined ? 'The rule was added.' : 'The rule was changed.' },
      };
    },
    onError: (visit, problem) =>
      showRules(visit, visit.params.team_id, {
        problem,
        given: visit.form,
        place: Place.optional()
          .catch(undefined)
          .parse(visit.form['place'] || undefined),
      }),
  }),
  page({
    method: 'post',
    path: `${PATH}/move`,
    access: 'request_rule.write',
    params: TeamParams,
    form: z.object({ version: Version, place: Place, to: z.enum(['up', 'down']) }),
    async handle({ ctx, params: { team_id }, form: { version, place, to } }) {
      const other = to === 'up' ? place - 1 : place + 1;
      await change(ctx, team_id, version, (rules) => {
        const [one, two] = [rules[place], rules[other]];
        return one && two ? rules.with(place, two).with(other, one) : [...rules];
      });
      return { to: buildPath(team_id) };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: `${PATH}/delete`,
    access: 'request_rule.write',
    params: TeamParams,
    form: z.object({ version: Version, place: Place }),
    async handle({ ctx, params: { team_id }, form: { version, place } }) {
      await change(ctx, team_id, version, (rules) => rules.filter((_, at) => at !== place));
      return { to: buildPath(team_id), notice: { kind: 'good', text: 'The rule was deleted.' } };
    },
    onError: bounced,
  }),
];
