import { parseQuickAdd, type QuickAddWorld } from '../../../../../api/work/tasks/quick-add/parse-quick-add.js';

const uma = { user_id: 'u1', username: 'uma.rao', display_name: 'Uma Rao' };
const max = { user_id: 'u2', username: 'max', display_name: 'Max Åberg' };
const maxine = { user_id: 'u3', username: 'maxine', display_name: 'Maxine Lee' };
const ursula = { user_id: 'u4', username: 'ursula', display_name: 'Ursula Rao' };
/** 26 November 2026 is a Thursday. */
const world: QuickAddWorld = {
  today: '2026-11-26',
  timezone: 'Europe/Berlin',
  userId: 'u2',
  members: [uma, max, maxine, ursula],
  projects: [
    { project_id: 'p1', name: 'Harbour works' },
    { project_id: 'p2', name: 'Twins' },
    { project_id: 'p3', name: 'twins' },
  ],
};
const read = (text: string) => parseQuickAdd(text, world);
const due = (words: string) => read(`Fix it due ${words}`).task.due_date;

describe('a line', () => {
  const ENDINGS = ['8 points', 'in 2 weeks', '@uma', '!high', '#steel'];
  it.each(
    ENDINGS.flatMap((_, at) => [
      ENDINGS.slice(at).concat(ENDINGS.slice(0, at)),
      ENDINGS.slice(0, at + 1)
        .toReversed()
        .concat(ENDINGS.slice(at + 1)),
    ]),
  )('takes its endings in any order: %s %s %s %s %s', (...endings) => {
    expect(read(`Migrate the quay ${endings.join(' ')}`)).toEqual({
      task: {
        title: 'Migrate the quay',
        due_date: '2026-12-10',
        estimate: 8,
        assigned_to: 'u1',
        priority: 'high',
        tags: ['steel'],
      },
      problems: [],
    });
  });

  it.each(['every month in 2 weeks 8 points', '8 points in 2 weeks every month', 'in 2 weeks every month 8 points'])(
    'a day that is said is the first one of a repeat: %s',
    (endings) => {
      expect(read(`Migrate ${endings}`)).toMatchObject({
        task: {
          title: 'Migrate',
          due_date: '2026-12-10',
          estimate: 8,
          recurrence: { rule: 'FREQ=MONTHLY' },
        },
        problems: [],
      });
    },
  );

  it('names title, due day, assignee, priority and tag', () => {
    expect(read('Fix the crane due friday @uma !high #harbour')).toEqual({
      task: { title: 'Fix the crane', due_date: '2026-11-27', assigned_to: 'u1', priority: 'high', tags: ['harbour'] },
      problems: [],
    });
  });

  it.each([
    ['Fix the crane 3pt', 'Fix the crane', 3],
    ['3pt fix the crane', 'fix the crane', 3],
    ['Fix the crane 1 point', 'Fix the crane', 1],
    ['Fix the crane 13 points, @uma !high', 'Fix the crane', 13],
    ['Fix the crane 0pts due friday', 'Fix the crane', 0],
    ['Fix the crane 8PT tomorrow', 'Fix the crane', 8],
    ['Fix the crane tomorrow 2 points', 'Fix the crane', 2],
    ['Fix the crane 5 points tomorrow', 'Fix the crane', 5],
    ['Fix the crane 5pt 5 points', 'Fix the crane', 5],
    ['Fix the crane 8 points weekly', 'Fix the crane', 8],
    ['Fix 8 points in 2 weeks of work', 'Fix 8 points in 2 weeks of work', undefined],
    ['Fix the crane est 3', 'Fix the crane', 3],
    ['Fix the crane estimate: 5 points due friday', 'Fix the crane', 5],
    ['Fix the crane estimate 5pt', 'Fix the crane', 5],
    ['Estimate 5', 'Estimate 5', undefined],
    ['Check the estimate 5 times', 'Check the estimate 5 times', undefined],
    ['Agree on 3 points of the plan', 'Agree on 3 points of the plan', undefined],
    ['Win by 3 points', 'Win by 3 points', undefined],
    ['Draw the 5 points', 'Draw the 5 points', undefined],
    ['Fix the crane \\3pt', 'Fix the crane 3pt', undefined],
    ['Print at 12ptx 3.5pt', 'Print at 12ptx 3.5pt', undefined],
  ])('takes points, but not those of a title: %s', (text, title, estimate) => {
    const { task, problems } = read(text);
    expect([task.title, task.estimate, problems]).toEqual([title, estimate, []]);
  });

  it('has one estimate, and a day or a repeat beside it', () => {
    expect(read('Fix it 3pt 5pt').problems).toEqual(['A task has one estimate']);
    expect(read('Fix it 3pt 3pt').task).toMatchObject({ title: 'Fix it', estimate: 3 });
    expect(read('Fix it tomorrow 3pt').task).toMatchObject({ due_date: '2026-11-27', estimate: 3 });
    expect(read('Water the plants every monday 1pt').task).toMatchObject({ title: 'Water the plants', estimate: 1 });
    expect(read('3pt').problems).toEqual(['A task needs a title']);
  });

  it.each([
    ['Ship the landing page @uma tomorrow #web !high', 'Ship the landing page', '2026-11-27'],
    ['Fix the login tomorrow', 'Fix the login', '2026-11-27'],
    ['Order swag next monday @uma', 'Order swag', '2026-11-30'],
    ['Book the venue on 15 Dec #events', 'Book the venue', '2026-12-15'],
    ['Ship it by friday', 'Ship it', '2026-11-27'],
    ['Review the copy 2026-12-04 !low', 'Review the copy', '2026-12-04'],
    ['Call the supplier friday', 'Call the supplier', '2026-11-27'],
    ['Call Mia monday !high', 'Call Mia', '2026-11-30'],
    ['Call them Friday.', 'Call them', '2026-11-27'],
    ['Pay rent 15 dec', 'Pay rent', '2026-12-15'],
    ['Pay rent Dec 15th #home', 'Pay rent', '2026-12-15'],
    ['Order paint in 2 weeks', 'Order paint', '2026-12-10'],
    ['Plan Black Friday', 'Plan Black Friday', undefined],
    ['plan black friday', 'plan black friday', undefined],
    ['Record Fun Friday', 'Record Fun Friday', undefined],
    ['Watch the sun', 'Watch the sun', undefined],
    ['Say what friday is', 'Say what friday is', undefined],
    ['Book a table for 15 dec', 'Book a table for 15 dec', undefined],
    ['Ship release 15', 'Ship release 15', undefined],
    ['Say how far in', 'Say how far in', undefined],
    ['Call the supplier \\friday', 'Call the supplier friday', undefined],
    ['Plan for tomorrow', 'Plan for tomorrow', undefined],
    ['Tomorrow', 'Tomorrow', undefined],
    ['Call tomorrow evening', 'Call tomorrow evening', undefined],
    ['Fix the login \\tomorrow', 'Fix the login tomorrow', undefined],
    ['Turn the light on', 'Turn the light on', undefined],
    ['Say what is next', 'Say what is next', undefined],
  ])('takes a day where the title ends: %s', (text, title, day) => {
    const { task, problems } = read(text);
    expect([task.title, task.due_date, problems]).toEqual([title, day, []]);
  });

  it('takes the words in any order, with marks after them, and keeps the order of the title', () => {
    expect(read('!u Fix, due tomorrow, the #deck #deck crane @max.').task).toEqual({
      title: 'Fix, the crane',
      due_date: '2026-11-27',
      assigned_to: 'u2',
      priority: 'urgent',
      tags: ['deck'],
    });
  });

  it.each([
    ['Pay the due fees', 'Pay the due fees'],
    ['Wow \\!important!', 'Wow !important!'],
    ['Buy \\due 3 books', 'Buy due 3 books'],
    ['Learn C# and F#', 'Learn C# and F#'],
    ['Mail ann@example.com', 'Mail ann@example.com'],
    ['Use \\@decorators and \\#tags \\due friday', 'Use @decorators and #tags due friday'],
    ['a ! b # c @ d', 'a ! b # c @ d'],
    ['due', 'due'],
    ['Call due to rain', 'Call due to rain'],
    ['Fix #123 crash', 'Fix #123 crash'],
    ['Close #7.', 'Close #7.'],
    ['Dues due may', 'Dues due may'],
  ])('keeps what is no sign in the title: %s', (text, title) => {
    expect(read(text)).toEqual({ task: { title, tags: [] }, problems: [] });
  });

  it('says what names nothing, so that no slip becomes a title', () => {
    expect(read('Bad one due 31 feb !huge').problems).toEqual([
      '“31 feb” is not a date: write 30 nov, 2026-11-30, friday or in 3 days',
      '!huge is not a priority: write !none, !low, !medium, !high, !urgent',
    ]);
  });

  it.each([
    ['30 feb', '30 feb'],
    ['31 April 2027,', '31 april 2027'],
    ['2026-02-30', '2026-02-30'],
    ['feb 30', 'feb 30'],
    ['April 31st 2027,', 'april 31st 2027'],
    ['3 books', '3'],
    ['32', '32'],
  ])('quotes of “due %s” what is not a date', (words, quoted) => {
    expect(read(`Pay due ${words} for all`).problems).toEqual([
      `“${quoted}” is not a date: write 30 nov, 2026-11-30, friday or in 3 days`,
    ]);
  });

  it('takes the whole name of a member, as pages show it', () => {
    expect(read('Call insurer @Maxine Lee due monday').task).toMatchObject({ title: 'Call insurer', assigned_to: 'u3' });
    expect(read('Call @ursula Rao, please').task).toMatchObject({ title: 'Call please', assigned_to: 'u4' });
    expect(read('Call @max Lee').task).toMatchObject({ title: 'Call Lee', assigned_to: 'u2' });
  });

  it('needs a title', () => {
    for (const text of ['', '  ', '@max', 'due friday !high']) expect(read(text).problems).toEqual(['A task needs a title']);
  });

  it('has a length, and shows a few problems only, so that no line takes long', () => {
    expect(read('!'.repeat(65_000) + 'a')).toEqual({
      task: { title: '', tags: [] },
      problems: ['A line has at most 2,000 characters'],
    });
    expect(read(`x ${'@zz '.repeat(400)}`).problems).toHaveLength(5);
    expect(read(`${'!'.repeat(1_990)}a`).task.title).toHaveLength(1_991);
  });

  it('#name is the project of that name, whatever its case and blanks', () => {
    expect(read('x #harbour-works').task).toEqual({ title: 'x', project_id: 'p1', tags: [] });
    expect(read('x #4th').task).toMatchObject({ title: 'x', tags: ['4th'] });
    expect(read('x #twins').problems).toEqual(['#twins matches several projects']);
  });
});

describe('an assignee', () => {
  it.each([
    ['@me', 'u2'],
    ['@uma.rao', 'u1'],
    ['@UMA', 'u1'],
    ['@max', 'u2'],
    ['@aberg', 'u2'],
    ['@umarao', 'u1'],
    ['@maxi', 'u3'],
  ])('%s is one member', (name, id) => {
    expect(read(`x ${name}`)).toEqual({ task: { title: 'x', assigned_to: id, tags: [] }, problems: [] });
  });

  it('that is unknown, several members, or a second one is a problem', () => {
    expect(read('x @nobody').problems).toEqual(['No member of the team matches @nobody']);
    expect(read('x @rao').problems).toEqual(['@rao matches several members: @uma.rao, @ursula']);
    expect(read('x @uma @max').problems).toEqual(['A task has one assignee']);
    expect(read('x @uma @uma').problems).toEqual([]);
  });
});

describe('a due day', () => {
  it.each([
    ['today', '2026-11-26'],
    ['tomorrow', '2026-11-27'],
    ['fri', '2026-11-27'],
    ['thursday', '2026-12-03'],
    ['Monday', '2026-11-30'],
    ['next week', '2026-11-30'],
    ['next friday', '2026-12-04'],
    ['next sunday', '2026-12-06'],
    ['next month', '2026-12-01'],
    ['in 3 days', '2026-11-29'],
    ['in a week', '2026-12-03'],
    ['in 3 months', '2027-02-26'],
    ['in 1 year', '2027-11-26'],
    ['2026-12-24', '2026-12-24'],
    ['5 dec', '2026-12-05'],
    ['Dec 5th', '2026-12-05'],
    ['1 march', '2027-03-01'],
    ['26 november', '2026-11-26'],
    ['29 feb 2028', '2028-02-29'],
    ['end of next month', '2026-12-31'],
    ['the 15th', '2026-12-15'],
    ['24.12.2026', '2026-12-24'],
    ['a week from friday', '2026-12-04'],
  ])('%s is %s', (words, day) => {
    expect(due(words)).toBe(day);
  });

  it.each(['2026-13-01', '2026-02-30', '31 feb', 'in 9999 days', 'in days', 'someday', 'fr', '0 dec', 'never', 'none'])(
    '%s is none, and stays in the title',
    (words) => {
      expect(read(`Fix it due ${words}`).task).toEqual({ title: `Fix it due ${words}`, tags: [] });
    },
  );

  it('ends a month that is shorter', () => {
    const late = parseQuickAdd('x due in 1 month', { ...world, today: '2027-01-31' });
    expect(late.task.due_date).toBe('2027-02-28');
  });
});

describe('a repeat', () => {
  const rule = (text: string) => read(text).task.recurrence?.rule;

  it.each([
    ['Water the plants every monday', 'Water the plants', 'FREQ=WEEKLY;BYDAY=MO', '2026-11-30'],
    ['Pay rent monthly on the 1st', 'Pay rent', 'FREQ=MONTHLY;BYMONTHDAY=1', '2026-12-01'],
    ['Stand-up every weekday @me', 'Stand-up', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', '2026-11-26'],
    ['Every 2 weeks on friday, clean the deck', 'clean the deck', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR', '2026-11-27'],
    ['Pay rent on the 1st of every month !high', 'Pay rent', 'FREQ=MONTHLY;BYMONTHDAY=1', '2026-12-01'],
    ['Review weekly #harbour', 'Review', 'FREQ=WEEKLY', '2026-11-26'],
    ['Call mom weekly due tomorrow', 'Call mom', 'FREQ=WEEKLY', '2026-11-27'],
    ['Call mom due tomorrow every week', 'Call mom', 'FREQ=WEEKLY', '2026-11-27'],
  ])('of “%s” leaves the title “%s”', (text, title, expected, due_date) => {
    expect(read(text)).toMatchObject({
      task: { title, due_date, recurrence: { rule: expected, timezone: 'Europe/Berlin' } },
      problems: [],
    });
  });

  it.each([
    'Write the weekly report',
    'Weekly report for all',
    'Check every door',
    'Reply to each email',
    'Wait on the 1st of the month',
    'Plan \\every monday',
  ])('is none in “%s”', (text) => {
    expect(read(text)).toEqual({ task: { title: text.replace('\\', ''), tags: [] }, problems: [] });
  });

  it('says what it cannot be', () => {
    expect(read('Call every friday at 9:00').problems).toEqual([
      'A task repeats on days, without a time: leave out the time of “every friday at 9:00”',
    ]);
    expect(read('Ping every hour').problems).toEqual(['A task repeats every day at most; an automation can run more often']);
    expect(read('Call every day every monday').problems).toEqual(['A task repeats in one way']);
    expect(read('Call due friday at 9:00').problems).toEqual(['A due date here is a day: leave out “at 9:00”']);
    expect(rule('Call due friday')).toBeUndefined();
  });
});
