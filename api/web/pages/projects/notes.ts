import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { ClampedInt, Id, Text } from '../../../platform/fields.js';
import { createNote } from '../../../work/items/notes/create-note.js';
import { listNotes } from '../../../work/items/notes/list-notes.js';
import { CreateNote, type NoteSummary, UpdateNote } from '../../../work/items/notes/schema.js';
import { MAX_CONTENT_BYTES } from '../../../work/items/rules.js';
import { getProject } from '../../../work/projects/get-project.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { chooseTeam } from '../../current-team.js';
import { type FormError, page, type Page, requireUser, type View, type Reader } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { mapTeamNames } from '../../wording/names.js';
import { Typed } from './form-fields.js';
import { itemPath } from './paths.js';

const ROWS = 50;
const MAX_PROJECTS = 500;
/** A byte becomes up to three in a form. */
const FORM_BYTES = 3 * MAX_CONTENT_BYTES + 16 * 1024;

/** Filters that hold nonsense do not count. */
const NoteFilter = z.object({
  team: z.uuid().optional().catch(undefined),
  project: z.uuid().optional().catch(undefined),
  q: z.preprocess((value) => (value === '' ? undefined : value), Text.trim().max(200).optional()).catch(undefined),
  offset: ClampedInt(0, 10_000, 0).catch(0),
});
type NoteFilter = z.output<typeof NoteFilter>;

const NoteForm = z.object({
  title: CreateNote.shape.title,
  content: Typed.pipe(UpdateNote.shape.content.unwrap()),
  team_id: Id,
  project_id: z.preprocess((value) => (value === '' ? undefined : value), Id.optional()),
});

type Project = Pick<ProjectRecord, 'project_id' | 'name' | 'team_id'>;

async function loadPlace(ctx: Context, me: Reader, { team, project }: NoteFilter) {
  const here = project === undefined ? undefined : (JSON.parse(await getProject(ctx, project)) as Project);
  const current = chooseTeam(me, here?.team_id ?? team);
  const projects = current ? await listProjects(ctx, { team_id: current.team_id, limit: MAX_PROJECTS, offset: 0 }) : [];
  return { here, current, projects: projects.map((json) => JSON.parse(json) as Project) };
}

async function showNotes(
  ctx: Context,
  me: User,
  filter: NoteFilter,
  { problem, given = {} }: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const { q, offset } = filter;
  const { here, current, projects } = await loadPlace(ctx, me, filter);
  const where = here ? { project_id: here.project_id } : { team_id: current?.team_id };
  const found = current ? await listNotes(ctx, { ...where, q, limit: ROWS, offset }) : { body: '[]', count: 0, more: false };
  const data = {
    notes: JSON.parse(found.body as string) as NoteSummary[],
    teams: me.teams,
    teamNames: mapTeamNames(me),
    team: current,
    project: here,
    projects,
    projectNames: Object.fromEntries(projects.map(({ project_id, name }) => [project_id, name])),
    canWrite: current !== undefined && isAllowed('item.write', current.role as Seat),
    q,
    previous: offset > 0 ? Math.max(0, offset - ROWS) : undefined,
    next: found.more ? offset + found.count : undefined,
    problem,
    given,
  };
  return { view: 'projects/notes', title: 'Notes', data, ...(problem && { status: problem.status }) };
}

export const notePages: Page[] = [
  page({
    method: 'get',
    path: '/app/notes',
    access: 'item.list',
    query: NoteFilter,
    handle: ({ ctx, me, query }) => showNotes(ctx, requireUser({ me }), query),
  }),
  page({
    method: 'post',
    path: '/app/notes',
    access: 'item.write',
    formBytes: FORM_BYTES,
    form: NoteForm,
    async handle({ ctx, form: { title, content, team_id, project_id } }) {
      const { note_id } = await createNote(ctx, { title, content, team_id, project_id });
      return { to: itemPath(note_id), notice: { kind: 'good', text: 'Note created' } };
    },
    onError: ({ ctx, me, form }, problem) => {
      const team = typeof form['team_id'] === 'string' ? form['team_id'] : undefined;
      const known = NoteFilter.parse({ team });
      return showNotes(ctx, requireUser({ me }), known, { problem, given: form });
    },
  }),
];
