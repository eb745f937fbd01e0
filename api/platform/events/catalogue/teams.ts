import { stored } from '../declare.js';
import { Member, PERSON } from './shapes.js';

const MEMBER = { project_id: null, member: { user_id: PERSON, role: 'member' } };

export const teamEvents = {
  'team.member_added': stored({
    payload: { member: Member },
    trigger: 'Someone joins the team',
    past: 'Someone joined the team',
    webhook: true,
    sample: MEMBER,
  }),
  'team.member_removed': stored({
    payload: { member: Member },
    trigger: 'Someone leaves the team',
    past: 'Someone left the team',
    webhook: true,
    sample: MEMBER,
  }),
};
