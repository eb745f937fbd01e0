import { timelineOf } from '../../../api/web/pages/projects/all/timeline.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { insertTasks } from '../work/cycles/support.js';
import { type Browser, givePasswords, signIn } from './browser.js';

// Projects on one scale of months, as a page and as sums.

const dated = (project_id: string, start_date: string | null, end_date: string | null) => ({
  project_id,
  created_at: '2026-11-07T09:00:00.000Z',
  start_date,
  end_date,
});

describe('the scale', () => {
  it('spans whole months, of the first project to the last, and at least two months from today', () => {
    const { months, today, bars } = timelineOf([dated('a', '2026-11-01', '2026-11-30')], '2026-11-16');
    expect(months.map(({ day }) => day)).toEqual(['2026-11-01', '2026-12-01', '2027-01-01']);
    const day = 100 / (30 + 31 + 31);
    expect(bars.get('a')).toMatchObject({ x: 0, start: '2026-11-01', end: '2026-11-30' });
    expect(bars.get('a')?.width).toBeCloseTo(30 * day, 1);
    expect(today).toBeCloseTo(15.5 * day, 1);
  });

  it('begins a project without a first day when it was created, and draws one without a last day to the edge', () => {
    const bar = timelineOf([dated('a', null, null)], '2026-11-16').bars.get('a');
    expect(bar).toMatchObject({ start: '2026-11-07', end: undefined });
    expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeCloseTo(100, 1);
    // It was created after it ended: one day.
    const early = timelineOf([dated('a', null, '2026-11-02')], '2026-11-16').bars.get('a');
    expect(early).toMatchObject({ start: '2026-11-02', end: '2026-11-02' });
    expect(early?.width).toBeGreaterThan(0);
  });

  it('cuts what lies years away, and names at most twelve months', () => {
    const { months, bars } = timelineOf([dated('a', '0001-01-01', '9999-12-31')], '2026-11-16');
    expect(months.length).toBeLessThanOrEqual(12);
    expect(months[0]?.day).toBe('2025-11-01');
    expect(bars.get('a')).toMatchObject({ x: 0, width: 100 });
  });
});

describe('the page', () => {
  let app: TestApp;
  let team: TestTeam;
  let browser: Browser;

  beforeAll(async () => {
    app = await startApp({ LOGIN_OTP: 'off' });
    team = await buildTeam(app);
    await givePasswords(app);
    browser = await signIn(app, team.member);
  });
  afterAll(() => app.close());

  it('has no timeline without an active project', async () => {
    expect((await browser.get('/app/projects')).html).not.toContain('Timeline');
  });

  it('says in words what a bar draws', async () => {
    const project = await buildProject(app, team, { name: 'Harbour', start_date: '2026-11-01', end_date: '2026-12-20' });
    await insertTasks(app, team, project, [{ status: 'done' }, { status: 'done' }, {}]);
    const { html } = await browser.get('/app/projects?show=timeline');
    expect(html).toContain('1 Nov to 20 Dec · 2 of 3 done');
    expect(html).toContain(`href="/app/projects/${project.project_id}"`);
    expect((await browser.get('/app/projects?show=nonsense')).html).not.toContain('roadmap');
  });
});
