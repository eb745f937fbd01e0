import { z } from 'zod';
import type { Context } from '../../../platform/context.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import type { Place } from '../../../work/tasks/stages/places.js';
import { fromChoice, STATUS_CHOICES } from '../../../work/tasks/rules.js';
import { createFormatter } from '../../wording/formatter.js';

/** What a form sends for where a task is to be: a status, why nobody completed it, or the id of a stage. */
export const Choice = z.union([z.enum(STATUS_CHOICES), z.uuid()]);
export type Choice = z.output<typeof Choice>;

const isStage = (choice: Choice): boolean => !STATUS_CHOICES.some((one) => one === choice);

/** Returns the fields that a choice sets. The status of a stage follows from it. */
export const fieldsOf = (choice: Choice) =>
  isStage(choice) ? { stage_id: choice } : fromChoice(choice as (typeof STATUS_CHOICES)[number]);

/** What a form sends for a place. */
export const valueOf = ({ status, stage }: Place): Choice => stage?.stage_id ?? status;

/** Names a choice: a stage of these teams by its name. */
export async function nameChoice(ctx: Context, teamIds: Iterable<string>, choice: Choice): Promise<string> {
  if (!isStage(choice)) return createFormatter(null).formatStatus(choice);
  return (await findStages(ctx, teamIds)).find(({ stage_id }) => stage_id === choice)?.name ?? 'the stage';
}
