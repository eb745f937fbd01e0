import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';

interface SearchResult {
  results: { item_id: string }[];
  indexing?: true;
}

/** Creates a note; the key makes repetitions harmless, also after a lost response. */
async function createNote(desk: Desk): Promise<{ note_id: string; title: string; content: string } | undefined> {
  const { caller, world, ledger } = desk;
  const title = `note ${uuidv7()}`;
  const content = `# ${title}`;
  const answer = await caller.untilKnown({
    method: 'POST',
    path: '/api/notes',
    token: world.member,
    headers: { 'idempotency-key': uuidv7() },
    body: { title, content, project_id: world.quiet },
  });
  if (!answer) return undefined;
  if (answer.status !== 201) {
    surprise(desk, 'create a note', answer);
    return undefined;
  }
  const note = { note_id: (answer.body as { note_id: string }).note_id, title, content };
  ledger.notes.push(note);
  return note;
}

/** Relates a note to a task that is not in the trash; the same relation again is the same relation. */
async function relate(desk: Desk, noteId: string): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const tasks = ledger.tasks.filter(({ trashed }) => !trashed);
  if (tasks.length === 0) return;
  const source_id = random.pick(tasks).task_id;
  const body = { source_id, target_id: noteId, relation_type: 'attached_to' };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/work-items/relations', token: world.member, body });
  if (!answer) return;
  if (answer.status === 201 || answer.status === 200) {
    const { relation_id } = answer.body as { relation_id: string };
    ledger.relations.push({ relation_id, source_id, target_id: noteId });
    // The task may just have been deleted; a task may have 500 relations.
  } else if (answer.status !== 404 && answer.status !== 409) surprise(desk, 'relate', answer);
}

/** What was acknowledged is found by the next search, unless it says that it is still indexing. */
async function search(desk: Desk, note: { note_id: string; title: string }): Promise<void> {
  const { caller, world, surprises } = desk;
  const body = { query: `"${note.title}"` };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/search', token: world.member, body });
  if (!answer) return;
  if (answer.status !== 200) return surprise(desk, 'search', answer);
  const { results, indexing } = answer.body as SearchResult;
  if (!indexing && !results.some(({ item_id }) => item_id === note.note_id)) surprises.push(`search did not find ${note.title}`);
}

/** Writes a note, relates it, changes its text, and searches for it. */
export async function workOnGraph(desk: Desk): Promise<void> {
  const { caller, world, random } = desk;
  const note = await createNote(desk);
  if (!note) return;
  await relate(desk, note.note_id);
  if (random.chance(0.5)) {
    const content = `changed ${uuidv7()}`;
    const path = `/api/notes/${note.note_id}`;
    const answer = await caller.untilKnown({ method: 'PATCH', path, token: world.member, body: { content } });
    if (answer?.status === 200) note.content = content;
    else if (answer) surprise(desk, 'change a note', answer);
  }
  await search(desk, note);
}
