import { FORGE_EVENTS } from '../../../../api/platform/events/catalogue/forge.js';
import { TRIGGERS } from '../../../../api/automation/language/triggers.js';
import { triggersOfEvent } from '../../../../api/platform/events/event-types.js';

const changed = (field: string, from: unknown, to: unknown) => ({ task: {}, changes: { [field]: { from, to } } });

describe('trigger types that an event arms', () => {
  it.each([
    ['task.created', { task: { assigned_to: null }, changes: {} }, ['task.created']],
    ['task.created', { task: { assigned_to: 'u1' }, changes: {} }, ['task.created', 'task.assigned']],
    ['task.updated', changed('title', 'a', 'b'), ['task.updated']],
    ['task.updated', changed('status', 'todo', 'in_review'), ['task.updated', 'task.status_changed']],
    ['task.updated', changed('status', 'todo', 'done'), ['task.updated', 'task.status_changed', 'task.completed']],
    ['task.updated', changed('status', 'done', 'todo'), ['task.updated', 'task.status_changed']],
    ['task.updated', changed('assigned_to', null, 'u1'), ['task.updated', 'task.assigned']],
    ['task.updated', changed('assigned_to', 'u1', null), ['task.updated']],
    ['task.updated', { task: { assigned_to: 'u1' }, changes: {} }, ['task.updated']],
    ['task.deleted', { task: { assigned_to: 'u1' } }, ['task.deleted']],
    ['project.updated', changed('status', 'active', 'archived'), ['project.updated', 'project.status_changed']],
    ['project.updated', changed('name', 'a', 'b'), ['project.updated']],
    ['forge.pr_merged', {}, ['forge.pr_merged', 'forge.pull_request', 'forge.*']],
    ['forge.issue_closed', {}, ['forge.issue_closed', 'forge.issue', 'forge.*']],
    ['forge.push', {}, ['forge.push', 'forge.*']],
    ['security.dependency_alert', {}, ['security.dependency_alert']],
    ['comment.created', { comment: {}, task: { assigned_to: 'u1' } }, ['comment.created']],
  ])('%s %j', (subject, payload, expected) => {
    expect(triggersOfEvent(subject, payload)).toEqual(expected);
  });

  it.each([[{}], [{ changes: null }], [{ changes: 'x' }], [{ changes: { status: null } }], [{ task: null, changes: [] }]])(
    'survives an event of another shape: %j',
    (payload) => {
      expect(triggersOfEvent('task.updated', payload)).toEqual(['task.updated']);
      expect(triggersOfEvent('task.created', payload)).toEqual(['task.created']);
    },
  );

  it('every sample arms its own trigger', () => {
    for (const { key, available, sample_payload } of TRIGGERS) {
      if (available) expect(triggersOfEvent(sample_payload['type'] as string, sample_payload)).toContain(key);
    }
  });

  it('the catalogue holds each name once, and every inbound event', () => {
    const keys = TRIGGERS.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toEqual(
      expect.arrayContaining([...FORGE_EVENTS, 'forge.pull_request', 'forge.issue', 'forge.*', 'schedule', 'manual']),
    );
  });
});
