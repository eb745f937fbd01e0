import { z } from 'zod';
import { stored } from '../declare.js';
import { aboutRun, PERSON, RUN, runSample } from './shapes.js';

const text = z.string();
const time = z.string().meta({ format: 'date-time' });

const GATE = { gate_index: 0, required_role: 'manager', expires_at: '2026-11-23T17:51:02.123Z' };

export const approvalEvents = {
  'approval.requested': stored({
    payload: aboutRun({
      gate_index: z.int(),
      message: z.string().nullable().meta({ description: 'What the gate asks' }),
      required_role: text.meta({ description: 'Role from which on members may decide' }),
      required_approvals: z.int(),
      expires_at: time,
      url: z.url().meta({ description: 'Page of the run, for a button. It asks to sign in: the link itself grants nothing' }),
    }),
    past: 'A run asks for an approval',
    webhook: true,
    sample: runSample({
      ...GATE,
      message: 'Close “Sign-in fails on Safari”?',
      required_approvals: 1,
      url: `https://assent.example.com/app/approvals/gate/${RUN}`,
    }),
  }),
  'approval.decided': stored({
    payload: aboutRun({ gate_index: z.int(), decision: z.enum(['approved', 'rejected']) }),
    past: 'An approval was given or refused',
    webhook: true,
    sample: { ...runSample({ decision: 'approved', gate_index: 0 }), actor_id: PERSON },
  }),
  'approval.expired': stored({
    payload: aboutRun({ gate_index: z.int(), required_role: text, expires_at: time }),
    past: 'Nobody decided about an approval in time',
    webhook: true,
    sample: runSample(GATE),
  }),
};
