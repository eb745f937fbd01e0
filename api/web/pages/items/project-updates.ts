import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { Id } from '../../../platform/fields.js';
import { getProject } from '../../../work/projects/get-project.js';
import { HEALTH } from '../../../work/projects/rules.js';
import { ProjectParams, type ProjectRecord } from '../../../work/projects/schema.js';
import { deleteUpdate } from '../../../work/projects/updates/delete-update.js';
import { editUpdate } from '../../../work/projects/updates/edit-update.js';
import { listUpdates } from '../../../work/projects/updates/list-updates.js';
import { postUpdate } from '../../../work/projects/updates/post-update.js';
import { PostProjectUpdate } from '../../../work/projects/updates/schema.js';
import { type FormError, page, type Page, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { renderTexts } from '../../wording/markdown.js';
import { namesOf } from '../../wording/names.js';
import { Typed } from '../projects/form-fields.js';
import { projectPath } from '../projects/paths.js';

/** Updates of one page. */
const ROWS = 20;

const Query = z.object({ before: z.uuid().optional().catch(undefined) });
const Form = z.object({ health: PostProjectUpdate.shape.health, content: Typed.pipe(PostProjectUpdate.shape.content) });

const updatesPath = (projectId: string, anchor = ''): string => `${projectPath(projectId)}/updates${anchor}`;

/** Loads updates of a project, newest first, as its pages show them. */
export async function loadUpdates(
  ctx: Context,
  me: User,
  { project_id, team_id }: Pick<ProjectRecord, 'project_id' | 'team_id'>,
  { limit, before }: { limit: number; before?: string | undefined },
) {
  const updates = await listUpdates(ctx, project_id, { limit: limit + 1, before });
  const shown = updates.slice(0, limit);
  const team = me.teams.find((each) => each.team_id === team_id);
  const seat = (team?.role ?? null) as Seat | null;
  const members = await listMembers(ctx, team_id);
  const html = await renderTexts(
    shown.map(({ content }) => ({ text: content })),
    {
      names: new Set(members.map(({ username }) => username.toLowerCase())),
      teamKeys: new Set(me.teams.map(({ key }) => key)),
    },
  );
  return {
    updates: shown,
    next: updates.length > limit ? shown.at(-1)?.update_id : undefined,
    htmlById: Object.fromEntries(shown.map(({ update_id }, at) => [update_id, html[at]])),
    members,
    names: namesOf(me, new Map([[team_id, members]])),
    teamName: team?.name ?? 'Team',
    canWrite: isAllowed('project_update.write', seat),
    canModerate: isAllowed('project_update.moderate', seat),
    healths: HEALTH,
  };
}

/** A form of the page that was refused, with what was typed. */
interface Refused {
  problem?: FormError;
  posted?: Fields;
  edited?: Fields;
}

async function showUpdates(
  ctx: Context,
  me: User,
  projectId: string,
  { before }: z.output<typeof Query>,
  refused: Refused = {},
): Promise<View> {
  const project = JSON.parse(await getProject(ctx, projectId)) as ProjectRecord;
  const data = {
    ...(await loadUpdates(ctx, me, project, { limit: ROWS, before })),
    project,
    isFirst: before === undefined,
    ...refused,
  };
  const title = `Updates of ${project.name}`;
  return {
    view: 'projects/updates',
    title,
    data,
    scripts: ['mention.js'],
    ...(refused.problem && { status: refused.problem.status }),
  };
}

export const projectUpdatePages: Page[] = [
  page({
    method: 'get',
    path: '/app/projects/:project_id/updates',
    access: 'project.read',
    params: ProjectParams,
    query: Query,
    handle: ({ ctx, me, params, query }) => showUpdates(ctx, requireUser({ me }), params.project_id, query),
  }),
  page({
    method: 'post',
    path: '/app/projects/:project_id/updates',
    access: 'project_update.write',
    params: ProjectParams,
    form: Form,
    async handle({ ctx, params: { project_id }, form }) {
      const { update_id } = await postUpdate(ctx, project_id, form);
      const undo = { kind: 'delete_project_update' as const, updateId: update_id };
      return { to: updatesPath(project_id, `#update-${update_id}`), notice: { kind: 'good', text: 'Update posted', undo } };
    },
    onError: ({ ctx, me, params, form }, problem) =>
      showUpdates(ctx, requireUser({ me }), params.project_id, {}, { problem, posted: form }),
  }),
  page({
    method: 'post',
    path: '/app/projects/:project_id/updates/edit',
    access: 'project_update.write',
    params: ProjectParams,
    form: Form.extend({ update_id: Id }),
    async handle({ ctx, params, form: { update_id, ...patch } }) {
      await editUpdate(ctx, update_id, patch);
      return { to: updatesPath(params.project_id, `#update-${update_id}`), notice: { kind: 'good', text: 'Update saved' } };
    },
    onError: ({ ctx, me, params, form }, problem) =>
      showUpdates(ctx, requireUser({ me }), params.project_id, {}, { problem, edited: form }),
  }),
  page({
    method: 'post',
    path: '/app/projects/:project_id/updates/delete',
    access: 'project_update.write',
    params: ProjectParams,
    form: z.object({ update_id: Id }),
    async handle({ ctx, params, form }) {
      await deleteUpdate(ctx, form.update_id);
      return { to: updatesPath(params.project_id), notice: { kind: 'good', text: 'Update deleted' } };
    },
    onError: ({ params }, { message }) =>
      Promise.resolve({ to: updatesPath(params.project_id), notice: { kind: 'bad', text: message } }),
  }),
];
