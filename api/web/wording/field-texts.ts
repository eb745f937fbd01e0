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
      hint: 'In an automation of a team. Managers and admins when empty',
      options: { member: 'Members, managers and admins', manager: 'Managers and admins', admin: 'Admins' },
    },
    message: { label: 'Question to the approvers', hint: 'It may name fields of the event, such as {{event.task.title}}' },
    required_approvals: { label: 'How many', hint: 'Different people who must approve, 1 to 5. One when empty' },
    allow_self_approval: {
      label: 'The person who started it may approve',
      hint: 'Also who made or edited the automation. Yes when empty',
    },
    expires_in_seconds: { label: 'Expires after', hint: '3 days when empty, 30 days at most' },
    remind_after_seconds: { label: 'Remind once after', hint: 'Nobody is reminded when empty' },
    signed_in: { label: 'Only people in the web app may approve', hint: 'Not programs with an access token. No when empty' },
    if_changed: {
      label: 'If a record changes after the approval',
      hint: 'Go on when empty',
      options: { proceed: 'go on', ask_again: 'ask again, at most three times' },
    },
  },
  [DELAY]: { seconds: { label: 'Wait for', hint: '30 days at most' } },
};
