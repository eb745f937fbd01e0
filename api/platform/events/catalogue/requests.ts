import { stored } from '../declare.js';
import { Request, TEAM } from './shapes.js';

const REQUEST = '0197a000-0000-7000-8000-000000000015';
const SAMPLE = {
  request_id: REQUEST,
  team_id: TEAM,
  title: 'Release 4.2',
  status: 'pending',
  closed_reason: null,
  systems: ['payments'],
  names: ['deploy'],
  requirement: { role: 'manager', approvals: 1, allow_self: false, code: false },
  url: `https://assent.example.com/app/approvals/request/${REQUEST}`,
};

/** Declares an event of change requests. Its payload never holds arguments. */
const ofRequest = (words: { trigger: string; past: string }, status: string) =>
  stored({ payload: { request: Request }, ...words, webhook: true, sample: { request: { ...SAMPLE, status } } });

export const requestEvents = {
  'request.created': ofRequest({ trigger: 'A change request is made', past: 'A program asked for a change' }, 'pending'),
  'request.approved': ofRequest({ trigger: 'A change request is approved', past: 'A change request was approved' }, 'approved'),
  'request.rejected': ofRequest({ trigger: 'A change request is rejected', past: 'A change request was rejected' }, 'rejected'),
  'request.redeemed': ofRequest({ trigger: 'A change request is used', past: 'An approved change request was used' }, 'redeemed'),
  'request.finished': ofRequest(
    { trigger: 'The outcome of a change request is known', past: 'The outcome of a change request became known' },
    'redeemed',
  ),
  'request.expired': ofRequest({ trigger: 'A change request expires', past: 'A change request expired' }, 'expired'),
  'request.cancelled': ofRequest(
    { trigger: 'A change request is cancelled', past: 'A change request was cancelled' },
    'cancelled',
  ),
  'request.stale': ofRequest(
    { trigger: 'A change request becomes stale', past: 'What a change request would call has changed' },
    'stale',
  ),
};
