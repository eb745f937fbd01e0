import { z } from 'zod';
import { type Endpoint, endpoint, Reply } from '../../../platform/endpoint/endpoint.js';
import { expectedVersion, replyUnlessKnown, versionEtag } from '../../../platform/endpoint/etags.js';
import { TrashedItem } from '../schema.js';
import { trashItem } from '../trash-item.js';
import { createNote } from './create-note.js';
import { getNote } from './get-note.js';
import { listNotes } from './list-notes.js';
import { replaceNote } from './replace-note.js';
import { CreateNote, ListNotes, Note, NoteParams, NoteSummary, ReplaceNote, UpdateNote } from './schema.js';
import { updateNote } from './update-note.js';

const tag = 'Notes';

const tagged = (note: Note) => new Reply(note, { headers: { ETag: versionEtag(note.version) } });

export const noteRoutes: Endpoint[] = [
  endpoint({
    id: 'listNotes',
    method: 'get',
    path: '/api/notes',
    tag,
    summary: 'List notes',
    description:
      'Oldest first, without their texts. Without a filter: notes of all your teams. `q` reads the first 16 MiB of texts; `X-Truncated: true` marks that later notes were left out: `POST /api/search` has no such limit.',
    capped: true,
    ability: 'item.list',
    scope: 'tasks:read',
    query: ListNotes,
    response: z.array(NoteSummary),
    errors: [404],
    pages: { cut: true },
    handle: ({ ctx, query }) => listNotes(ctx, query),
  }),
  endpoint({
    id: 'createNote',
    method: 'post',
    path: '/api/notes',
    tag,
    summary: 'Create a note',
    description: 'Without project and team it goes to your default team, else to your oldest team in which you may write.',
    ability: 'item.write',
    scope: 'tasks:write',
    body: CreateNote,
    response: Note,
    status: 201,
    etag: 'created',
    errors: [404],
    example: { title: 'What we decided on Monday', content: 'We ship on **Friday**.', kind: 'note' },
    handle: async ({ ctx, body }) => tagged(await createNote(ctx, body)),
  }),
  endpoint({
    id: 'getNote',
    method: 'get',
    path: '/api/notes/:note_id',
    tag,
    summary: 'Get a note',
    description: 'With If-None-Match an unchanged note is a 304.',
    etag: 'kept',
    ability: 'item.read',
    scope: 'tasks:read',
    params: NoteParams,
    response: Note,
    errors: [404],
    async handle({ ctx, params, headers }) {
      const note = await getNote(ctx, params.note_id);
      return replyUnlessKnown(versionEtag(note.version), headers['if-none-match'], note);
    },
  }),
  endpoint({
    id: 'updateNote',
    method: 'patch',
    path: '/api/notes/:note_id',
    tag,
    summary: 'Update a note',
    ability: 'item.write',
    scope: 'tasks:write',
    params: NoteParams,
    body: UpdateNote,
    response: Note,
    errors: [404, 409],
    etag: 'change',
    example: { content: 'We ship on **Thursday**.', version: 1 },
    async handle({ ctx, params, body, headers }) {
      const version = expectedVersion('note', headers['if-match'], body.version);
      return tagged(await updateNote(ctx, params.note_id, { ...body, version }));
    },
  }),
  endpoint({
    id: 'replaceNote',
    method: 'put',
    path: '/api/notes/:note_id',
    tag,
    summary: 'Replace a note',
    description: 'An omitted field is reset to its default; without `project_id` the note leaves its project.',
    ability: 'item.write',
    scope: 'tasks:write',
    params: NoteParams,
    body: ReplaceNote,
    response: Note,
    errors: [404, 409],
    etag: 'change',
    example: { title: 'What we decided on Monday', content: 'We ship on **Thursday**.', version: 1 },
    async handle({ ctx, params, body, headers }) {
      const version = expectedVersion('note', headers['if-match'], body.version);
      return tagged(await replaceNote(ctx, params.note_id, { ...body, version }));
    },
  }),
  endpoint({
    id: 'deleteNote',
    method: 'delete',
    path: '/api/notes/:note_id',
    tag,
    summary: 'Delete a note',
    ability: 'item.write',
    scope: 'tasks:write',
    params: NoteParams,
    response: TrashedItem,
    errors: [404],
    handle: ({ ctx, params }) => trashItem(ctx, params.note_id, 'note'),
  }),
];
