import { z } from 'zod';
import type { User } from '../../../identity/auth/schema.js';
import { type ImportPreview, type PreviewedState, previewImport } from '../../../bulk/import/preview/preview-import.js';
import { isPlain } from '../../../bulk/import/prepare/states.js';
import { ON_CONFLICT } from '../../../bulk/import/write/batch.js';
import { FORMATS } from '../../../bulk/rules.js';
import type { Context } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { formatStatus, STATUS_CHOICES, TASK_STATUSES } from '../../../work/tasks/rules.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import { isStatusName, MAX_STAGES, type Stage } from '../../../work/tasks/stages/places.js';
import { CreateStage } from '../../../work/tasks/stages/schema.js';
import type { FormError, View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { IMPORT_CHOICES } from './import-choices.js';
import { loadProjects } from './jobs.js';

/** What a choice that makes a stage begins with; the status of the stage follows. */
export const NEW_STAGE = 'new:';

/** How a file shall be read. What the address says wrongly does not count. */
export const CheckQuery = z.object({
  team: z.uuid().optional().catch(undefined),
  format: z.enum(FORMATS).optional().catch(undefined),
  project_id: z.uuid().optional().catch(undefined),
  on_conflict: z.enum(ON_CONFLICT).catch('skip'),
});
type CheckQuery = z.output<typeof CheckQuery>;

/** Address of the page that shows what an import of an upload would do. */
export function checkPath(fileId: string, { team, format, project_id, on_conflict }: CheckQuery): `/${string}` {
  const query = new URLSearchParams(
    Object.entries({ team, format, project_id, on_conflict }).filter((each): each is [string, string] => each[1] !== undefined),
  );
  return `/app/bulk/import/${fileId}?${query.toString()}`;
}

interface Choice {
  value: string;
  label: string;
}

/** A state of the file, with where its tasks can go, and where they go unless that is changed. */
interface StateChoice {
  name: string;
  tasks: number;
  chosen: string;
  groups: { label: string; choices: Choice[] }[];
}

/** Whether a team could have a stage of this name. */
const canBeStage = (name: string, stages: readonly Stage[]): boolean =>
  !isStatusName(name) &&
  !stages.some((stage) => stage.name.toLowerCase() === name.toLowerCase()) &&
  CreateStage.shape.name.safeParse(name).success;

/** @param room new stages that the team may still have */
function toChoices({ name, tasks, place }: PreviewedState, stages: readonly Stage[], room: number, given: unknown): StateChoice {
  const isNew = room > 0 && canBeStage(name, stages);
  const status = 'choice' in place && TASK_STATUSES.find((one) => one === place.choice);
  const suggested =
    'stage_id' in place ? place.stage_id : isNew && status && !isPlain(name, status) ? `${NEW_STAGE}${status}` : place.choice;
  const groups = [
    { label: 'Statuses', choices: STATUS_CHOICES.map((value) => ({ value, label: formatStatus(value) })) },
    {
      label: 'Stages',
      choices: stages.map(({ stage_id, name, status }) => ({ value: stage_id, label: `${name}, in ${formatStatus(status)}` })),
    },
    {
      label: 'A new stage',
      choices: isNew
        ? TASK_STATUSES.map((one) => ({ value: `${NEW_STAGE}${one}`, label: `New stage “${name}”, in ${formatStatus(one)}` }))
        : [],
    },
  ].filter(({ choices }) => choices.length > 0);
  return { name, tasks, groups, chosen: typeof given === 'string' ? given : suggested };
}

/** Suggests new stages while the team has room for them. */
function chooseStates(states: readonly PreviewedState[], stages: readonly Stage[], given: readonly unknown[]): StateChoice[] {
  let room = MAX_STAGES - stages.length;
  return states.map((state, at) => {
    const choice = toChoices(state, stages, room, given[at]);
    if (choice.chosen.startsWith(NEW_STAGE)) room -= 1;
    return choice;
  });
}

/** Shows what an import of an upload would do, and asks where its states go. What cannot be read is a problem of the format. */
export async function showCheck(
  ctx: Context,
  me: User,
  file_id: string,
  query: CheckQuery,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const team = me.teams.find(({ team_id }) => team_id === query.team);
  const team_id = team?.team_id ?? query.team ?? file_id;
  const { format, project_id = null, on_conflict } = query;
  let preview: ImportPreview | undefined;
  let fault: string | undefined;
  try {
    preview = await previewImport(ctx, { team_id, file_id, format, project_id });
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'VALIDATION_ERROR')) throw error;
    fault = (typeof error.detail === 'string' ? undefined : error.detail.errors[0]?.message) ?? error.message;
  }
  const [stages, projects] = await Promise.all([findStages(ctx, [team_id]), loadProjects(ctx, team_id)]);
  const places = [refused.given?.['place'] ?? []].flat();
  const data = {
    ...IMPORT_CHOICES,
    team,
    file_id,
    base: `/app/bulk/import/${file_id}`,
    address: checkPath(file_id, query),
    preview,
    fault,
    format: preview?.format ?? format,
    project_id,
    on_conflict,
    projects,
    states: chooseStates(preview?.states ?? [], stages, places),
    problem: refused.problem,
  };
  return { view: 'bulk/check', title: 'Check the import', data, ...(refused.problem && { status: refused.problem.status }) };
}
