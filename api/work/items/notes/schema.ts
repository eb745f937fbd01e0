import { z } from 'zod';
import { Id, Text, Timestamp, Title } from '../../../platform/fields.js';
import { byOffset } from '../../../platform/endpoint/pages.js';
import { Content, NoteKind, Version } from '../schema.js';

const SameTeam = Id.nullish().meta({ description: 'A note cannot change its team: another team is a 400' });
const ProjectId = Id.nullish().meta({ description: 'A project of the same team; null for none' });
const ExpectedVersion = Version.nullish().meta({ description: 'The version last read; an outdated one is a 409' });

export const CreateNote = z
  .object({
    title: Title(200),
    content: Content.nullish().meta({ description: 'Default: an empty text' }),
    team_id: Id.nullish().meta({ description: 'Default: the team of the project, else your default team' }),
    project_id: Id.nullish(),
    kind: NoteKind.nullish(),
  })
  .meta({ id: 'CreateNote' });
export type CreateNote = z.output<typeof CreateNote>;

export const UpdateNote = z
  .object({
    title: Title(200).optional(),
    content: Content.optional(),
    team_id: SameTeam,
    project_id: ProjectId,
    kind: NoteKind.optional(),
    version: ExpectedVersion,
  })
  .meta({ id: 'UpdateNote' });
export type UpdateNote = z.output<typeof UpdateNote>;

/** Missing fields are reset to their defaults. */
export const ReplaceNote = z
  .object({
    title: Title(200),
    content: Content.nullish(),
    team_id: SameTeam,
    project_id: ProjectId,
    kind: NoteKind.nullish(),
    version: ExpectedVersion,
  })
  .meta({ id: 'ReplaceNote' });
export type ReplaceNote = z.output<typeof ReplaceNote>;

export const NoteParams = z.object({ note_id: Id });

export const ListNotes = z.object({
  team_id: Id.optional().meta({ description: 'Another team gives an empty list. Ignored when project_id is given' }),
  project_id: Id.optional(),
  q: Text.max(200).optional().meta({ description: 'Text in the title or the content, in any case; no wildcards' }),
  ...byOffset(),
});
export type ListNotes = z.output<typeof ListNotes>;

const summary = {
  note_id: z.string(),
  title: z.string(),
  team_id: z.string(),
  project_id: z.string().nullable(),
  kind: NoteKind,
  created_by: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  version: z.int(),
};

/** A note in a list, without its text. */
export const NoteSummary = z.object(summary).meta({ id: 'NoteSummary' });
export type NoteSummary = z.output<typeof NoteSummary>;

export const Note = z.object({ ...summary, content: z.string() }).meta({ id: 'Note' });
export type Note = z.output<typeof Note>;
