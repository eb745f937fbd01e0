import { z } from 'zod';
import type { IconName } from '../../icons.js';
import { CHOOSERS } from '../../navigation/keys.js';
import { FieldParam } from '../filters/field-params.js';

/** What a chooser can be open for: a kind of change, or a custom field by its key. */
export const TaskAct = z.union([z.enum(CHOOSERS), FieldParam]);
export type TaskAct = z.output<typeof TaskAct>;

/** A change that the palette makes of tasks, or a kind of change, which opens its chooser. */
export interface TaskAction {
  label: string;
  icon: IconName;
  /** Other words that find it. */
  words: string;
  act: TaskAct;
  /** `field:value` as the form sends it; absent: opens the chooser of `act`, or of `opens`. */
  change?: string;
  opens?: TaskAct;
  /** A page that it leads to instead. */
  path?: `/app${string}`;
  /** What it belongs to. */
  of?: string;
  /** The task has this value. */
  isCurrent?: boolean;
  /** The day, the points or the value that the query says in words. */
  isTyped?: boolean;
  /** The query names it by other words than its own. */
  isOther?: boolean;
}
