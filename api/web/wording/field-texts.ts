import { availableActions } from '../../automation/actions/registry.js';
import { DELAY, GATE } from '../../automation/actions/rules.js';

/** How the builder words a parameter of an action; one that is not listed shows its name and the description of its schema. */
export interface FieldText {
  label: string;
  hint?: string;
  /** Words of its values. */
  options?: Readonly<Record<string, string>>;
}

/** By action type and parameter. */
export const FIELD_TEXTS: Readonly<Record<string, Readonly<Record<string, FieldText>>>> = {
  [GATE]: {
    role: {
      label: 'Who may approve',
      hint: 'In an automation of a team. If you choose nothing: managers and admins',
      options: { member: 'Members, managers and admins', manager: 'Managers and admins', admin: 'Admins' },
    },
    message: { label: 'Question to the approvers', hint: 'It may name fields of the event, such as {{event.task.title}}' },
    required_approvals: { label: 'How many', hint: 'As many different people must approve, 1 to 5. Left empty: one' },
    allow_self_approval: {
      label: 'The person who started it may approve',
      hint: 'So may those who made or edited the automation. Left empty: yes',
    },
    expires_in_seconds: { label: 'Expires after', hint: 'Left empty: 3 days. At most 30 days' },
    remind_after_seconds: { label: 'Remind once after', hint: 'Left empty: nobody is reminded' },
    signed_in: {
      label: 'Only people in the web app may approve',
      hint: 'Programs with an access token may not. Left empty: they may',
    },
    if_unchanged: {
      label: 'If its steps would change nothing',
      hint: 'Left empty: it asks',
      options: { ask: 'ask', skip: 'ask nobody, and skip them' },
    },
    if_changed: {
      label: 'If a record changes after the approval',
      hint: 'Left empty: the run goes on with the record as it is then',
      options: { proceed: 'go on with the record as it is then', ask_again: 'ask again, at most three times' },
    },
  },
  [DELAY]: { seconds: { label: 'Wait for', hint: '30 days at most' } },
  notify: {
    user_ids: { label: 'To these people', hint: 'One name on each line. Leave it empty if you choose a role' },
    role: {
      label: 'Or to everyone who is',
      hint: 'Leave it empty if you name people',
      options: { guest: 'in the team', member: 'a member, manager or admin', manager: 'a manager or admin', admin: 'an admin' },
    },
    channel: {
      label: 'By',
      hint: 'Left empty: a notification in the app',
      options: { in_app: 'a notification in the app', email: 'email' },
    },
  },
  assign_task: { assigned_to: { label: 'Assignee', hint: 'The name of a member' } },
  create_relation: {
    source_id: { label: 'Item', hint: 'The title of an item, or a field of the event such as {{event.task.task_id}}' },
    target_id: { label: 'Related item', hint: 'As above' },
  },
};

/** How fields are worded that several actions have. */
const COMMON: Readonly<Record<string, FieldText>> = {
  resolution: {
    label: 'Why nobody completes it',
    hint: 'Only with the status done. Left empty: it is completed',
    options: { canceled: 'Canceled', duplicate: 'Duplicate' },
  },
  assigned_to: { label: 'Assignee', hint: 'The name of a member. Left empty: a new task has nobody, another one keeps its own' },
  project_id: { label: 'Project', hint: 'The name of a project' },
  task_id: { label: 'Task', hint: 'The title of a task, its address, or a field of the event' },
  parent_task_id: { label: 'Parent task', hint: 'The title of a task' },
  cycle_id: { label: 'Cycle', hint: 'The name of a planned or active cycle' },
  stage_id: { label: 'Stage', hint: 'A stage of the team; it sets the status too' },
  due_date: { label: 'Due', hint: 'A date, or words that count from the day of the run: in 3 days, next friday' },
  status: {
    label: 'Status',
    options: { todo: 'To do', in_progress: 'In progress', in_review: 'In review', done: 'Done' },
  },
  priority: { label: 'Priority', options: { none: 'No priority', low: 'Low', medium: 'Medium', high: 'High', urgent: 'Urgent' } },
  relation_type: { label: 'Relation' },
  estimate: { label: 'Estimate in points' },
  estimated_hours: { label: 'Estimate in hours' },
  actual_hours: { label: 'Hours spent' },
  is_archived: { label: 'Archived' },
  url: { label: 'Address' },
};

/** Returns how a parameter is worded; undefined if its name says enough. */
export const fieldText = (type: string, name: string): FieldText | undefined => {
  const [own, common] = [FIELD_TEXTS[type], COMMON].map((texts) =>
    texts && Object.hasOwn(texts, name) ? texts[name] : undefined,
  );
  return own ?? common;
};

/** Returns the label of a parameter. */
export function fieldLabel(type: string, name: string): string {
  const label = fieldText(type, name)?.label ?? name.replaceAll('_', ' ');
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** A place in a definition, such as `actions[0].params.message`, or `.headers.authorization` in it. */
const PLACE = /^actions\[(\d+)\](?:\.params)?(?:\.(\w+))?[\w.[\]]*/i;

/** Names the place with which a message begins as the builder labels it: "Step 1 (Approval gate), “Question to the approvers”". */
export const namePlace = (message: string, actions: readonly { type: string }[]): string =>
  message.replace(PLACE, (place, index: string, param: string | undefined) => {
    const type = actions[Number(index)]?.type;
    if (type === undefined) return place;
    const label = availableActions().find((action) => action.type === type)?.label ?? type;
    return `Step ${Number(index) + 1} (${label})${param === undefined ? '' : `, “${fieldLabel(type, param)}”`}`;
  });
