import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { createAutomation } from '../../../automation/definitions/create-automation.js';
import { findRights } from '../../../automation/definitions/find-rights.js';
import { getAutomation } from '../../../automation/definitions/get-automation.js';
import { AutomationParams, type AutomationRecord, type UpdateAutomation } from '../../../automation/definitions/schema.js';
import { getVersion } from '../../../automation/definitions/versions/list-versions.js';
import { updateAutomation } from '../../../automation/definitions/update-automation.js';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { forbidden, invalid } from '../../../platform/errors.js';
import { Id, Text } from '../../../platform/fields.js';
import { chooseTeam } from '../../current-team.js';
import {
  type FormError,
  page,
  type Page,
  type PageResult,
  type Redirect,
  requireUser,
  type View,
  type Reader,
} from '../../page.js';
import { fieldsPath } from '../teams/fields.js';
import type { Fields } from '../../server/read-form.js';
import { createFormatter } from '../../wording/formatter.js';
import { editForm } from './builder-edits.js';
import { type BuilderForm, readBuilderForm, toDraft, toForm } from './builder-form.js';
import { findMissing } from './missing-fields.js';
import { withNamedIds } from './named-ids.js';
import { describeClashes, looserGates, rebaseDraft } from './rebase.js';
import { readOwnWords, type TeamWords } from './own-words.js';
import { withSevereField } from './severe-field.js';
import { type Shown, showBuilder, type Target } from './builder-view.js';
import { blankDraft, type Draft, DRAFT_FIELDS, draftOf, parseDraft, readDraft, versionDraft, writeDraft } from './draft.js';
import { withFirstStages } from './stage-choice.js';
import { automationPath, VersionField } from './switches.js';
import { type AutomationTemplate, TEMPLATES } from './templates.js';

/** Bytes of a form: a definition as it is stored, as forms encode it. */
const FORM_BYTES = 256 * 1024;

const BuilderFields = z.looseObject({ op: z.string().max(20).default('show') });
const EditFields = BuilderFields.extend({ version: VersionField, change_note: Text.trim().max(500).default('') });

const textOf = (given: Fields, name: string): string => (typeof given[name] === 'string' ? (given[name] as string) : '');

/** Returns the definition that was sent, of whichever tab; names are ids in it. @throws VALIDATION_ERROR */
async function readSent(ctx: Context, me: User, teamId: string | null, given: Fields): Promise<Draft> {
  if (given['view'] === 'json') return readDraft(textOf(given, 'json'));
  const sent = readBuilderForm(given, await readOwnWords(ctx, me, teamId));
  const { form, errors } = await withNamedIds(ctx, me, teamId, sent);
  // Only what is saved has to be complete.
  return toDraft(form, given['op'] === 'save' ? [...findMissing(sent), ...errors] : errors);
}

/** What a page shows again of what was sent. */
const shownAgain = (given: Fields): Omit<Shown, 'form'> => ({
  isActive: given['is_active'] === 'yes',
  changeNote: textOf(given, 'change_note'),
});

/** Renders the form after a button that saves nothing. @throws VALIDATION_ERROR a text that the other tab cannot show */
async function showEdited(ctx: Context, me: User, target: Target, op: string, given: Fields): Promise<PageResult> {
  const again = shownAgain(given);
  const own = await readOwnWords(ctx, me, target.teamId);
  if (op === 'json' || (given['view'] === 'json' && op !== 'form')) {
    const draft = await readSent(ctx, me, target.teamId, given);
    return showBuilder(ctx, me, target, { ...again, form: toForm(draft, own), json: writeDraft(draft) });
  }
  if (op === 'form')
    return showBuilder(ctx, me, target, { ...again, form: toForm(await readSent(ctx, me, target.teamId, given), own) });
  const { form, focus } = editForm(readBuilderForm(given, own), op, given);
  return showBuilder(ctx, me, target, { ...again, form, focus });
}

/** Shows what was sent again, with what is wrong. */
async function showRefused(ctx: Context, me: User, target: Target, given: Fields, problem: FormError): Promise<PageResult> {
  const form: BuilderForm = readBuilderForm(given, await readOwnWords(ctx, me, target.teamId));
  const json = given['view'] === 'json' ? { json: textOf(given, 'json').replaceAll('\r\n', '\n') } : {};
  return showBuilder(ctx, me, target, { ...shownAgain(given), form, ...json, problem });
}

/** Returns where a new automation is created: the team that was asked for if the user may write there, else their own; null: personal. */
function newTarget(me: Reader, wanted: string | undefined, template: string | null): Target {
  const writable = me.teams.filter(({ role }) => isAllowed('automation.write', role as Seat));
  const teamId = wanted === 'personal' ? null : (chooseTeam(me, wanted, writable)?.team_id ?? null);
  return { teamId, automation: null, version: null, template };
}

/** Returns where a sent form creates: where the user chose, whether or not the operation will refuse it. */
function sentTarget(me: User, given: Fields): Target {
  const chosen = textOf(given, 'team_id');
  const target = newTarget(me, chosen, null);
  return chosen === '' || chosen === 'personal' ? target : { ...target, teamId: Id.parse(chosen) };
}

/** @throws PERMISSION_DENIED */
async function editTarget(ctx: Context, automationId: string): Promise<{ automation: AutomationRecord; target: Target }> {
  const automation = await getAutomation(ctx, automationId);
  const { mayChange } = await findRights(ctx, automation);
  if (!mayChange) throw forbidden('You may not change this automation');
  const { team_id: teamId, version } = automation;
  return { automation, target: { teamId, automation, version, template: null } };
}

/** Saves what differs from the current version, so that the authors of unchanged actions stay theirs. */
async function saveEdited(
  ctx: Context,
  me: User,
  automation: AutomationRecord,
  { version, ...given }: z.output<typeof EditFields>,
): Promise<Redirect> {
  const draft = parseDraft(await readSent(ctx, me, automation.team_id, given));
  const current = draftOf(automation);
  const changed = DRAFT_FIELDS.filter((field) => !isDeepStrictEqual(draft[field], current[field]));
  const to = automationPath(automation.automation_id);
  if (changed.length === 0 && version === automation.version)
    return { to, notice: { kind: 'good', text: 'Nothing was changed.' } };
  const fields = Object.fromEntries(changed.map((field) => [field, draft[field]])) as UpdateAutomation;
  const change_note = given.change_note || null;
  const saved = await updateAutomation(ctx, automation.automation_id, { ...fields, version, change_note });
  return { to, notice: { kind: 'good', text: `Saved as version ${saved.version}.${looserGates(draft, current)}` } };
}

/** Goes on from a version that another user saved, and that this one has read: `op` names it. */
async function showRebased(ctx: Context, me: User, target: Target, given: z.output<typeof EditFields>): Promise<PageResult> {
  const { data: version } = VersionField.safeParse(given.op.slice('rebase:'.length));
  if (version === undefined) throw invalid('This button is unknown; reload the page');
  const [theirs, base] = await Promise.all([version, given.version].map((each) => readVersion(ctx, target, each)));
  const current = { ...draftOf(target.automation as AutomationRecord), ...theirs };
  const sent = await readSent(ctx, me, target.teamId, given);
  const { draft, clashes } = rebaseDraft(sent, base ?? {}, current);
  const message = describeClashes(clashes, draft, current);
  const problem = message === undefined ? {} : { problem: { status: 409, message, fields: {} } };
  const json = given['view'] === 'json' ? { json: writeDraft(draft) } : {};
  const form = toForm(draft, await readOwnWords(ctx, me, target.teamId));
  return showBuilder(ctx, me, { ...target, version }, { ...shownAgain(given), form, ...json, ...problem });
}

const readVersion = async (ctx: Context, { automation }: Target, version: number) =>
  versionDraft(await getVersion(ctx, automation?.automation_id ?? '', version));

/** Lists the templates. `lacking`: one that was chosen, and needs a field that the team does not have. */
function showTemplates(me: User, { teamId }: Target, lacking?: AutomationTemplate): View {
  const team = me.teams.find(({ team_id }) => team_id === teamId);
  const mayCreate = team !== undefined && isAllowed('custom_field.manage', team.role as Seat);
  const needed = lacking && { name: lacking.draft.name, team, fields: team && fieldsPath(team.team_id), mayCreate };
  const data = { templates: TEMPLATES, team: teamId ?? 'personal', needed };
  return { view: 'automations/templates', title: 'New automation', data, scripts: ['drafts.js'] };
}

/** Returns the definition of a template in the words of the team; undefined where it lacks a field that the template needs. */
function fillTemplate({ draft, usesStages, usesField }: AutomationTemplate, own: TeamWords | undefined): Draft | undefined {
  if (usesField) return withSevereField(draft, own);
  return usesStages ? withFirstStages(draft, own) : draft;
}

const newPages: Page[] = [
  page({
    method: 'get',
    path: '/app/automations/new',
    access: 'automation.write',
    query: z.object({
      team: z.string().max(40).optional().catch(undefined),
      template: z.string().max(40).optional().catch(undefined),
    }),
    async handle({ ctx, me, query }) {
      const person = requireUser({ me });
      const chosen = TEMPLATES.find(({ key }) => key === query.template);
      const target = newTarget(person, query.team, chosen?.key ?? null);
      if (query.template === undefined) return showTemplates(person, target);
      const own = await readOwnWords(ctx, person, target.teamId);
      const filled = chosen ? fillTemplate(chosen, own) : blankDraft();
      if (!filled) return showTemplates(person, target, chosen);
      const schedule_timezone = filled.schedule_timezone ?? createFormatter(person).timeZone;
      return showBuilder(ctx, person, target, { form: toForm({ ...filled, schedule_timezone }, own) });
    },
  }),
  page({
    method: 'post',
    path: '/app/automations/new',
    access: 'automation.write',
    form: BuilderFields,
    formBytes: FORM_BYTES,
    async handle({ ctx, me, form: given }) {
      const target = sentTarget(requireUser({ me }), given);
      if (given.op !== 'save') return showEdited(ctx, requireUser({ me }), target, given.op, given);
      const team_id = target.teamId;
      const draft = parseDraft(await readSent(ctx, requireUser({ me }), team_id, given));
      const is_active = given['is_active'] === 'yes';
      const { automation_id } = await createAutomation(ctx, { ...draft, team_id, is_active });
      const next = is_active ? 'It is enabled.' : 'Try it with a dry run, then enable it.';
      return { to: automationPath(automation_id), notice: { kind: 'good', text: `Created. ${next}` } };
    },
    onError: ({ ctx, me, form }, problem) =>
      showRefused(ctx, requireUser({ me }), sentTarget(requireUser({ me }), form), form, problem),
  }),
];

export const builderPages: Page[] = [
  ...newPages,
  page({
    method: 'get',
    path: '/app/automations/:automation_id/edit',
    access: 'automation.write',
    params: AutomationParams,
    async handle({ ctx, me, params }) {
      const { automation, target } = await editTarget(ctx, params.automation_id);
      const own = await readOwnWords(ctx, requireUser({ me }), target.teamId);
      return showBuilder(ctx, requireUser({ me }), target, { form: toForm(draftOf(automation), own) });
    },
  }),
  page({
    method: 'post',
    path: '/app/automations/:automation_id/edit',
    access: 'automation.write',
    params: AutomationParams,
    form: EditFields,
    formBytes: FORM_BYTES,
    async handle({ ctx, me, params, form: given }) {
      const { automation, target } = await editTarget(ctx, params.automation_id);
      if (given.op === 'save') return saveEdited(ctx, requireUser({ me }), automation, given);
      const shown = { ...target, version: given.version };
      if (given.op.startsWith('rebase:')) return showRebased(ctx, requireUser({ me }), shown, given);
      return showEdited(ctx, requireUser({ me }), shown, given.op, given);
    },
    async onError({ ctx, me, params, form }, problem) {
      const { target } = await editTarget(ctx, params.automation_id);
      const seen = VersionField.safeParse(form['version']);
      const version = seen.success ? seen.data : target.version;
      return showRefused(ctx, requireUser({ me }), { ...target, version }, form, problem);
    },
  }),
];
