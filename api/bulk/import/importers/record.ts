import type { StatusChoice } from '../../../work/tasks/rules.js';
import type { Stage } from '../../../work/tasks/stages/places.js';

/** A record for the import, as a foreign file or one of ours states it. Its ids are references, which the import resolves. */
export interface ImportRecord {
  /** Kind of the record, as in our own files. */
  entity: string;
  [field: string]: unknown;
}

/** What one line of a foreign file amounts to: usually a task with its comments and relations. */
export interface Mapped {
  records: ImportRecord[];
  /** What could not be taken over, as sentences without text of the file beyond short names. */
  notes: string[];
}

/** What an importer knows besides the line. */
export interface ImportPlace {
  team_id: string;
  /** Project of what names none; null: the file's own projects are created. */
  project_id: string | null;
  /** Returns the id of the member with this email address, name or user name; undefined if there is none, or more than one. */
  getMemberName: (name: string) => string | undefined;
  /** Is told of a task whose assignee is no member. */
  addStranger: (name: string, line: number) => void;
  /** Is given the state of a task that no stage of the team is called by, with the status that the task got. */
  addState: (name: string, status: StatusChoice, line: number) => void;
  /** Returns the stage of the team with this name, in any case. */
  getStage: (name: string) => Pick<Stage, 'stage_id' | 'status'> | undefined;
}

/** Turns the lines of a foreign format into records, in the order of the file. May remember what earlier lines said. */
export interface Importer<Line> {
  map: (line: Line) => Mapped;
}
