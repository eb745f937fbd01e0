import { namePlace } from '../../../api/web/wording/field-texts.js';
import { plainMessage } from '../../../api/web/wording/plain-message.js';

describe('plainMessage', () => {
  it.each([
    ['end_date must not be before start_date', 'last day must not be before first day'],
    ['lead_id must be a member of the project’s team', 'lead must be a member of the project’s team'],
    ['auto_complete needs an end_date', 'automatic completion needs a last day'],
    ['A shared view needs a team_id', 'A shared view needs a team'],
    ['assigned_to must be a member of the project’s team', 'assignee must be a member of the project’s team'],
    ['actions[0].params.user_ids: every user must be a member', 'step 1, people: every user must be a member'],
    ['actions[11]: the gate needs 2 approvals', 'step 12: the gate needs 2 approvals'],
    ['The plan was confirmed at 2026-11-27T01:02:03.456Z', 'The plan was confirmed at 27 Nov 2026, 01:02'],
    ['The file exceeds 26214400 bytes', 'The file exceeds 25 MB'],
    ['The request body exceeds 65536 bytes', 'The request body exceeds 66 kB'],
  ])('words %j', (message, said) => {
    expect(plainMessage(message, null)).toBe(said);
  });

  it.each([
    'The tag “due_date” is given twice',
    'No field {{event.task.end_date}} exists',
    'The secret TEAM_ID is unknown, and so is my_end_date',
    'The path /api/team_id is reserved',
    'It was 2026-13-45T99:99:99Z then',
  ])('leaves %j as it is', (message) => {
    expect(plainMessage(message, null)).toBe(message);
  });
});

it.each([
  ['actions[0].params.message: is too long', 'Step 1 (Wait for an approval), “Question to the approvers”: is too long'],
  ['Actions[1].params.headers.authorization: no', 'Step 2 (Send an HTTP request), “Headers”: no'],
  ['actions[1]: http_request does not', 'Step 2 (Send an HTTP request): http_request does not'],
  ['actions[2]: unknown', 'actions[2]: unknown'],
  ['The event has no actions[0]', 'The event has no actions[0]'],
])('%j is named as the builder labels it', (message, said) => {
  expect(namePlace(message, [{ type: 'require_approval' }, { type: 'http_request' }])).toBe(said);
});
