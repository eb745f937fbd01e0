import { z } from 'zod';
import { CreateCycle } from '../../../work/cycles/schema.js';

export const cyclePath = (cycleId: string): string => `/app/cycles/${cycleId}`;

/** A field left empty in a form. */
export const orNull = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' || value === undefined ? null : value), schema);

/** A check box, sent only if it is set. */
export const Box = z.preprocess((value) => value === 'true', z.boolean());

/** The fields of a cycle that its forms have. */
export const CycleForm = z.object({
  name: CreateCycle.shape.name,
  goal: orNull(CreateCycle.shape.goal),
  start_date: orNull(CreateCycle.shape.start_date),
  end_date: orNull(CreateCycle.shape.end_date),
  auto_complete: Box,
  repeats: Box,
});

/** What repeats completes by date, also if only that box is set. */
export const withSchedule = <T extends z.output<typeof CycleForm>>(form: T): T => ({
  ...form,
  auto_complete: form.auto_complete || form.repeats,
});
