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
const ofRequest = (past: string, status: string) =>
  stored({ payload: { request: Request }, past, webhook: true, sample: { request: { ...SAMPLE, status } } });

export const requestEvents = {
  'request.created': ofRequest('A program asked for a change', 'pending'),
  'request.approved': ofRequest('A change request was approved', 'approved'),
  'request.rejected': ofRequest('A change request was rejected', 'rejected'),
  'request.redeemed': ofRequest('An approved change request was used', 'redeemed'),
  'request.finished': ofRequest('The outcome of a change request became known', 'redeemed'),
  'request.expired': ofRequest('A change request expired', 'expired'),
  'request.cancelled': ofRequest('A change request was cancelled', 'cancelled'),
  'request.stale': ofRequest('What a change request would call has changed', 'stale'),
};
