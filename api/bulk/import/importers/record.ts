import type { StatusChoice, TaskResolution, TaskStatus } from '../../../work/tasks/rules.js';

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
  /** Is given the state of a task that `getState` does not know, with the status that the task got. */
  addState: (name: string, status: StatusChoice, line: number) => void;
  /** Returns what puts a task of this state where it belongs, if the request or a stage of the team says that. */
  getState: (name: string) => { stage_id: string | null; status: TaskStatus; resolution?: TaskResolution | null } | undefined;
}

/** Turns the lines of a foreign format into records, in the order of the file. May remember what earlier lines said. */
export interface Importer<Line> {
  map: (line: Line) => Mapped;
}
