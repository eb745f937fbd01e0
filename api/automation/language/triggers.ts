import { forgeFamilies } from '../../platform/events/catalogue/forge.js';
import { PERSON, STAGE, STAGE_NAME, TASK, TEAM } from '../../platform/events/catalogue/shapes.js';
import { EVENTS } from '../../platform/events/event-types.js';
import type { Payload } from '../../platform/events/declare.js';
import { nameTask } from './name-task.js';

/** A valid `trigger_type` of an automation. */
export interface Trigger {
  key: string;
  label: string;
  /** False while no feature sends the event yet; saving such an automation is rejected. */
  available: boolean;
  /** Example of `event` for conditions and templates. */
  sample_payload: Record<string, unknown>;
}

/** Builds a trigger with an example that has the fields of every event. */
const startedBy = (key: string, label: string, sample: Payload): Trigger => ({
  key,
  label,
  available: true,
  sample_payload: nameTask(
    {
      type: key,
      occurred_at: '2026-11-20T17:51:02.123Z',
      team_id: TEAM,
      project_id: TASK.project_id,
      actor_id: PERSON,
      ...sample,
    },
    { team_key: 'HAR', names: { stages: { [STAGE]: STAGE_NAME }, custom_fields: {} } },
  ),
});

const SAMPLES: Readonly<Record<string, Payload>> = Object.fromEntries(EVENTS.map(([name, { sample }]) => [name, sample]));

/** All trigger types, in list order: events, families of them, and the starts that are no events. */
export const TRIGGERS: readonly Trigger[] = [
  ...EVENTS.flatMap(([name, { trigger, sample }]) => (trigger === undefined ? [] : [startedBy(name, trigger, sample)])),
  ...Object.entries(forgeFamilies).map(
    ([
      family,
      {
        trigger,
        members: [member = 'forge.push'],
      },
    ]) => startedBy(family, trigger, { type: member, ...SAMPLES[member] }),
  ),
  startedBy('schedule', 'On a schedule', { project_id: null, actor_id: null, scheduled_for: '2026-12-01T09:00:00.000Z' }),
  startedBy('webhook', 'When an address is called', {
    project_id: null,
    actor_id: null,
    // Of a form and of a monitor: a call may have any body.
    body: {
      title: 'Checkout is slow',
      message: 'p95 above 2 s for five minutes',
      severity: 'high',
      url: 'https://status.example.com/1',
    },
    query: {},
    content_type: 'application/json',
  }),
  startedBy('manual', 'When someone starts it manually', { project_id: null }),
];

/** What happened before a run of each trigger, in words. */
export const TRIGGER_TEXT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(EVENTS.map(([name, { past }]) => [name, past])),
  ...Object.fromEntries(Object.entries(forgeFamilies).map(([family, { past }]) => [family, past])),
  schedule: 'Scheduled time reached',
  webhook: 'Started by a call to its address',
  manual: 'Started manually',
};

/** Returns whether the caller gives the event, which may say anything: nothing in it is taken for a fact about our records. */
export const isGivenEvent = (triggerType: string): boolean => triggerType === 'manual' || triggerType === 'webhook';
