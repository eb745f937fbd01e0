import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { buildPerson, buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { GATE } from '../../../factories/runs.js';
import type { KillableRelay } from '../../../outbox/support.js';
import type { TestApp } from '../../../support/app.js';

type Named = { automation_id: string };
export type Started = { run_id: string };

const STRICT = { ...GATE, params: { allow_self_approval: false } };
export const carrier = ({ run_id }: Started) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });

/** A team whose automations have gates without self-approval, and a second manager. */
export class GatedTeam {
  private constructor(
    private readonly app: TestApp,
    private readonly relay: KillableRelay,
    readonly team: TestTeam,
    readonly project: { project_id: string },
    readonly other: Person,
  ) {}

  static async build(app: TestApp, relay: KillableRelay): Promise<GatedTeam> {
    const team = await buildTeam(app);
    const other = await buildPerson(app);
    await app.services.db('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'manager' });
    return new GatedTeam(app, relay, team, await buildProject(app, team), other);
  }

  /** An automation of the member's, unless somebody else is named. */
  async make(body: object, creator = this.team.member): Promise<Named> {
    const made = await this.app.as(creator).post('/api/automations', { name: 'Any', team_id: this.team.team_id, ...body });
    expect(made.status).toBe(201);
    return made.body;
  }

  gated(trigger_type: string, fields: object = {}): Promise<Named> {
    const tail = { type: 'create_task', params: { ...this.project, title: 'tail' } };
    return this.make({ trigger_type, actions: [STRICT, tail], ...fields });
  }

  async task(person: Person, fields: object): Promise<{ task_id: string }> {
    const made = await this.app.as(person).post('/api/tasks', { ...this.project, title: 'T', ...fields });
    expect(made.status).toBe(201);
    return made.body.data;
  }

  async patch(person: Person, { task_id }: { task_id: string }, fields: object): Promise<void> {
    expect((await this.app.as(person).patch(`/api/tasks/${task_id}`, fields)).status).toBe(200);
  }

  async execute(person: Person, { automation_id }: Named): Promise<Started> {
    const started = await this.app.as(person).post(`/api/automations/${automation_id}/execute`, {});
    expect(started.status).toBe(202);
    return started.body;
  }

  async perform(run: Started): Promise<void> {
    expect(await performAction(this.app.services, carrier(run), 0)).toMatchObject({ outcome: 'succeeded' });
    await this.relay.drain();
  }

  /** The newest run of an automation, waiting at its gate. */
  async waiting({ automation_id }: Named): Promise<Started> {
    await this.relay.drain();
    const runs = this.app.services.db('automation_runs').where({ automation_id }).whereNot({ status: 'skipped' });
    const run = await runs.orderBy('queued_at', 'desc').first();
    expect(run).toBeDefined();
    await openGate(this.app.services, carrier(run), 0);
    return run;
  }

  async approve(person: Person, { run_id }: Started): Promise<number> {
    const answer = await this.app.as(person).post(`/api/automations/runs/${run_id}/approve`, { gate_index: 0 });
    return answer.status;
  }

  /** These people are refused at the gate of the automation's newest run, and the second manager is not. */
  async refuses(automation: Named, ...people: Person[]): Promise<void> {
    const run = await this.waiting(automation);
    for (const person of people) expect(await this.approve(person, run)).toBe(403);
    expect(await this.approve(this.other, run)).toBe(200);
  }
}
