import fc from 'fast-check';
import { checkCondition, evaluateCondition } from '../../../../api/automation/language/condition.js';
import { type ConditionScope, conditionScope } from '../../../../api/automation/language/condition-scope.js';

const now = new Date('2026-11-20T12:00:00Z');
const task = {
  task_id: 't1',
  title: 'Login 500',
  status: 'done',
  priority: 'urgent',
  tags: ['bug', 'login'],
  estimated_hours: 2,
  logged_hours: 2.5,
  parent_task_id: null,
  assigned_to: 'u1',
  created_at: '2026-11-19T11:00:00Z',
};
const taskEvent = {
  type: 'task.status_changed',
  number: 7,
  task,
  changes: { status: { from: 'in_review', to: 'done' } },
};
const around = { project: { project_id: 'p1', name: 'Apollo' }, actor: { user_id: 'u1', email: 'ada@demo.test' }, now };
const scope = conditionScope(taskEvent, around);
const run = (source: string, on: ConditionScope = scope) => evaluateCondition(source, on);
const onEvent = (event: object) => conditionScope({ type: 'manual', ...event }, around);
const yes = { matched: true, error: null };
const no = { matched: false, error: null };
const failed = (text: string) => ({ matched: false, error: expect.stringContaining(text) });

describe('checkCondition', () => {
  it.each([
    'task.priority == "urgent" && "bug" in task.tags && changes.status.to == "done"',
    'has(event.task) && event.task != null',
    'forge.repo == "acme/rocket" && actor.user_id != project.owner_id',
    'timestamp(task.created_at) + duration("24h") < now',
    'now.getHours("Europe/Berlin") >= 9 && now.getDayOfWeek() != 0',
    'task.tags.exists(tag, tag.startsWith("p")) && task.tags.all(tag, size(tag) < 9)',
    'task.tags.filter(tag, tag != "x").exists(tag, tag == "bug")', // one after the other, not one in the other
    'task.tags.exists(event, event == "bug")', // a bound name may hide a variable
    'task.assigned_to in [actor.user_id, "u1"]', // mixed lists, as in Google's CEL
    'type(event.number) == int',
    'event.flag', // dyn: known only when it runs
    '"a" + event.title == "ab" // a comment',
  ])('accepts %s', (source) => {
    expect(checkCondition(source)).toEqual({ ok: true });
  });

  it.each([
    // syntax
    ['', 'Unexpected token: EOF', 0],
    ['event.x ==', 'Unexpected token: EOF', 10],
    ['event.x @ 2', 'Unexpected character: @', 8],
    ['event.x == "open', 'Unterminated string', 11],
    // names
    ['evnt.title == "x"', 'Unknown variable: evnt', 0],
    ['task.title == "x" && tsk.done', 'Unknown variable: tsk', 21],
    ['has(evnt.task)', 'Unknown variable: evnt', 4],
    ['task.tags.exists(tag, tga == "x")', 'Unknown variable: tga', 22],
    ['task.tags.exists(tag, tag == "x") && tag == "x"', 'Unknown variable: tag', 37],
    ['cel.bind(a, 1, a == 1)', 'Unknown function: bind', 4],
    ['cel == cel', 'Unknown variable: cel', 0],
    ['type(now) == google.protobuf.Timestamp', 'Unknown variable: google', 13],
    ['constructor.name == ""', 'Unknown variable: constructor', 0],
    ['__proto__ == event', 'Reserved identifier: __proto__', 0],
    // functions
    ['task.title.matches("(a+)+$")', 'matches() is not available', 11],
    ['matches(task.title, "a")', 'matches() is not available', 0],
    ['event.bind(a, task.tags, a + a) == []', 'Unknown function: bind', 6],
    ['bytes(event.body).json().x == 1', 'Unknown function: json', 18],
    ['event.toString() == ""', 'Unknown function: toString', 6],
    ['sleep(1) == 1', 'Unknown function: sleep', 0],
    ['"abc".contains(1)', "found no matching overload for 'string.contains(int)'", 0],
    ['has(task)', 'has() invalid argument', 4],
    ['task.tags.exists(1, true)', 'invalid predicate iteration variable', 17],
    // one macro level
    ['task.tags.all(a, task.tags.exists(b, a == b))', 'exists() cannot be used inside another macro', 27],
    ['task.tags.all(a, has(task.x) && task.tags.map(b, b) == [])', 'map() cannot be used inside another macro', 42],
    ['task.tags.map(a, task.tags.filter(b, true)) == []', 'filter() cannot', 27],
    ['task.tags.filter(a, task.tags.exists_one(b, true)) == []', 'exists_one() cannot', 30],
    ['task.tags.exists(a, !(task.tags.all(b, a == b) ? true : false))', 'all() cannot', 32],
    ['task.tags.exists(a, [{"k": size(task.tags.map(b, b))}] == [])', 'map() cannot', 42],
    ['task.tags.map(a, true, -size(task.tags.map(b, b))) == []', 'map() cannot', 39],
    ['task.tags.exists(a, has(task.tags.filter(b, true).x))', 'filter() cannot', 34],
    ['task.tags.exists(a, task.tags[task.tags.map(b, 0)[0]] == a)', 'map() cannot', 40],
    // hidden fields
    ['event.__proto__ == {}', 'Field __proto__ cannot be read', 6],
    ['event.task.constructor == 1', 'Field constructor cannot be read', 11],
    ['event["prototype"] == 1', 'Field prototype cannot be read', 6],
    ['event.constructor.all(key, true)', 'Field constructor cannot be read', 6],
    ['has(event.constructor)', 'Field constructor cannot be read', 10],
    ['now.__proto__ == now', 'Field __proto__ cannot be read', 4],
    // types
    ['event.x > 1 && "a" > 1', 'no such overload: string > int', 15],
    ['now > "2026-01-01"', 'no such overload: google.protobuf.Timestamp > string', 0],
    ['size(task.tags)', 'A condition must be true or false, not int', null],
    ['"done"', 'A condition must be true or false, not string', null],
    ['[true]', 'A condition must be true or false, not list', null],
    // size
    [`${'('.repeat(31)}true${')'.repeat(31)}`, 'Exceeded maxDepth (30)', expect.any(Number)],
    [`${'true||'.repeat(151)}true`, 'Exceeded maxAstNodes (300)', expect.any(Number)],
    [`true || "${'x'.repeat(991)}"`, 'A condition can have at most 1000 characters', null],
  ])('refuses %s', (source, message, position) => {
    expect(checkCondition(source)).toEqual({ ok: false, message: expect.stringContaining(message), position });
  });

  it('counts code points, in the limit and in the position', () => {
    expect(checkCondition(`event.x == "${'🚀'.repeat(900)}"`)).toEqual({ ok: true });
    expect(checkCondition('event.x == "🚀🚀" && evnt.y')).toMatchObject({ position: 19 });
  });

  it('accepts what is just within the limits', () => {
    expect(checkCondition(`""=="${'x'.repeat(994)}"`)).toEqual({ ok: true });
    expect(checkCondition(`""=="${'x'.repeat(995)}"`)).toMatchObject({ ok: false });
    expect(checkCondition(`${'('.repeat(29)}true${')'.repeat(29)}`)).toEqual({ ok: true });
    expect(checkCondition(`${'true||'.repeat(149)}true`)).toEqual({ ok: true });
  });

  it('never throws, whatever the text', () => {
    const tokens = fc.constantFrom(
      ...'event task now tags title . ( ) [ ] { } , : ? == != < in && || ! - + * / % 1 2.5 1u "a" b"a" true null all exists map has'.split(
        ' ',
      ),
      ...'size matches bind filter duration( timestamp( x __proto__ \\ \n " \''.split(' '),
    );
    const glued = fc.array(tokens, { maxLength: 25 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), glued), (source) => {
        const checked = checkCondition(source);
        const { matched, error } = run(source);
        if (!checked.ok) expect({ matched, error }).toEqual({ matched: false, error: checked.message });
        if (error !== null) expect(error).not.toMatch(/[\n\r]/);
        if (!checked.ok && checked.position !== null) expect(checked.position).toBeLessThanOrEqual(Array.from(source).length);
      }),
      { numRuns: 500 },
    );
  });
});

describe('evaluateCondition', () => {
  it.each([
    ['task.priority == "urgent" && "bug" in task.tags && changes.status.to == "done"', yes],
    ['task.priority == "low"', no],
    ['has(event.task) && event.task != null', yes],
    ['project.name == "Apollo" && actor.user_id == task.assigned_to', yes],
    ['task.parent_task_id == null && type(task.parent_task_id) == null_type', yes],
    ['task.tags.exists_one(tag, tag.contains("ug"))', yes],
    ['task.tags.map(tag, tag + "!") == ["bug!", "login!"]', yes],
    ['task.tags.map(tag, tag != "bug", size(tag)) == [5]', yes],
    ['size(task.tags) == 2 && task.tags[1] == "login"', yes],
    ['task.assigned_to in [actor.user_id, "u2"]', yes],
    ['task.title.split(" ")[1] == "500"', yes],
    ['type(now) == type(timestamp("2026-01-01T00:00:00Z"))', yes],
    ['now - timestamp(task.created_at) > duration("24h")', yes],
    ['now.getFullYear() == 2026 && now.getHours("America/New_York") == 7', yes],
  ])('%s', (source, outcome) => {
    expect(run(source)).toEqual(outcome);
  });

  it.each([
    'event.number == 7',
    'event.number + 1 == 8',
    'event.number * 2 - 4 == 10',
    'event.number % 2 == 1',
    'event.number == 7.0',
    'event.number > 6.5 && 7.5 > event.number',
    'event.number in [6.5, 7.0]',
    'event.number in [1, 7]',
    '{"n": 7} == {"n": event.number}',
    '-event.number < 0',
    'event.number != "7"',
    // One field, 2 one day and 2.5 the next: comparisons take both.
    'task.estimated_hours > 1.5',
    'task.estimated_hours > 1',
    'task.estimated_hours >= 2 && task.estimated_hours <= 2.0',
    'task.estimated_hours < task.logged_hours',
    'task.logged_hours > 1.5 && task.logged_hours > 2 && 3 > task.logged_hours',
    'task.logged_hours == 2.5 && task.logged_hours != 2',
    'double(task.estimated_hours) * 1.5 == 3.0 && double(task.logged_hours) * 2.0 == 5.0',
  ])('numbers: %s', (source) => {
    expect(run(source)).toEqual(yes);
  });

  it('leaves numbers alone that are not exact integers', () => {
    const on = onEvent({ huge: 2 ** 53, most: 2 ** 53 - 1, half: 0.5, minus: -0 });
    expect(run('event.huge > 9.0e15 && type(event.huge) == double', on)).toEqual(yes);
    expect(run('event.most == 9007199254740991 && type(event.most) == int', on)).toEqual(yes);
    expect(run('event.half == 0.5 && event.minus == 0', on)).toEqual(yes);
  });

  it.each([
    ['task.nothing == 1', 'No such key: nothing'],
    ['event.nothing.deeper == 1', 'No such key: nothing'],
    ['task.tags[2] == "x"', 'index out of bounds'],
    ['task.title > 1', 'no such overload: dyn<string> > int'],
    ['task.logged_hours * 2 > 1', 'no such overload: dyn<double> * int'],
    ['task.title && true', 'Logical operator requires bool operands'],
    ['task.title', 'The condition returned a string, not true or false'],
    ['event.number', 'The condition returned a number, not true or false'],
    ['task.tags', 'The condition returned a list, not true or false'],
    ['task', 'The condition returned a map or another value, not true or false'],
    ['task.parent_task_id', 'The condition returned null, not true or false'],
    ['task.title.size() == 9 ? now : now', 'A condition must be true or false, not google.protobuf.Timestamp'],
    ['[now][event.number - 7]', 'A condition must be true or false'],
    ['timestamp(task.title) < now', 'timestamp() requires a string in ISO 8601 format'],
    ['now.getHours("Mars/Base") > 1', 'Mars/Base'],
    ['event.number / 0 == 1', 'division by zero'],
    ['evnt.x', 'Unknown variable: evnt'],
    ['task.title.matches("L")', 'matches() is not available'],
    ['1 +', 'Unexpected token: EOF'],
    ['', 'Unexpected token: EOF'],
    ['x'.repeat(1001), 'at most 1000 characters'],
  ])('%s fails with its reason', (source, text) => {
    expect(run(source)).toEqual(failed(text));
    expect(run(source)).toEqual(failed(text)); // also from the cache
  });

  it('keeps CEL logic: one side may fail when the other decides', () => {
    expect(run('task.nothing == 1 || task.status == "done"')).toEqual(yes);
    expect(run('task.nothing == 1 && task.status == "todo"')).toEqual(no);
    expect(run('task.tags.exists(tag, tag == "bug" || tag.foo == 1)')).toEqual(yes);
  });

  it('reports one short line, fit for the database', () => {
    const { error } = run('bool(event.text)', onEvent({ text: `a\n\tb\0\ud800${'🚀'.repeat(500)}` }));
    expect(error).toMatch(/^bool\(\) conversion error: invalid string value "a b 🚀+$/u);
    expect(Array.from(error ?? '')).toHaveLength(300);
  });

  it.each([
    'event.own == 1', // the control: the scope below does hold data
    'event[string("own")] == 1',
  ])('reads own data: %s', (source) => {
    expect(run(source, onEvent(JSON.parse('{"own":1,"__proto__":{"a":1},"constructor":2,"prototype":3}')))).toEqual(yes);
  });

  it.each([
    ['event["__pro" + "to__"] == {}', 'Field __proto__ cannot be read'],
    ['event["construc" + "tor"] == 2', 'Field constructor cannot be read'],
    ['event["proto" + "type"] == 3', 'Field prototype cannot be read'],
    ['now["__pro" + "to__"] != now', 'Field __proto__ cannot be read'],
    ['duration("1s")["construc" + "tor"] != now', 'Field constructor cannot be read'],
    ['event["to" + "String"] != null', 'No such key: toString'],
    ['event["hasOwn" + "Property"] != null', 'No such key: hasOwnProperty'],
    ['event.tags["len" + "gth"] != null', 'No such key: length'],
    ['event.title.length > 0', 'No such key: length'],
    ['now.getTime != null', 'Unsupported type: function'],
  ])('refuses %s', (source, text) => {
    const event = JSON.parse('{"title":"x","tags":["a"],"__proto__":{"a":1},"constructor":2,"prototype":3}');
    expect(run(source, onEvent(event))).toEqual(failed(text));
  });

  it('does not see hidden keys in any other way', () => {
    const on = onEvent({ map: JSON.parse('{"__proto__":1,"constructor":1,"prototype":1,"a":1}') });
    expect(run('size(event.map) == 1 && event.map.all(key, key == "a") && !("constructor" in event.map)', on)).toEqual(yes);
    expect(run('"toString" in event.map || "length" in event.map', on)).toEqual(no);
  });

  it('is the same on every use of a cached condition', () => {
    const source = 'task.tags.exists(tag, tag == event.wanted)';
    const wanting = (wanted: unknown) => run(source, onEvent({ wanted, task }));
    expect([wanting('bug'), wanting('x'), wanting(1), wanting('login')]).toEqual([yes, no, no, yes]);
  });

  it('keeps working when more conditions are used than it remembers', () => {
    for (let n = 0; n < 600; n += 1) expect(run(`event.number + ${n} == ${n + 7}`)).toEqual(yes);
    expect(run('event.number + 0 == 7')).toEqual(yes);
  });

  it('never throws, whatever the event', () => {
    const sources = fc.constantFrom(
      'event.a.b == 1',
      'event.a + event.b > 2',
      'event.a.exists(x, x == event.b)',
      'event.a.contains(event.b)',
      'event[event.a] in event.b',
      'has(event.a.b) ? event.a.b : event.b',
      'task == changes && forge != project || event.a < event.b',
      'string(event.a) == event.b || duration(event.a) < duration(event.b)',
    );
    const values = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
      fc.string(),
    );
    fc.assert(
      fc.property(
        sources,
        fc.dictionary(fc.constantFrom('a', 'b', 'type', 'task', 'changes', '__proto__'), values),
        (source, event) => {
          const { matched, error } = run(source, conditionScope(event, { project: null, actor: event, now }));
          expect(typeof matched).toBe('boolean');
          if (error !== null) expect(matched).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('bounds of one evaluation', () => {
  const long = 'x'.repeat(20_000);

  it('shows a condition 200 entries of a list or map, at every depth', () => {
    const list = Array.from({ length: 300 }, (_, n) => n);
    const map = Object.fromEntries(list.map((n) => [`k${n}`, n]));
    const on = onEvent({ list, map, deep: { er: [list] } });
    expect(run('size(event.list) == 200 && size(event.map) == 200 && size(event.deep.er[0]) == 200', on)).toEqual(yes);
    expect(run('event.list[199] == 199 && !(200 in event.list)', on)).toEqual(yes);
    expect(run('event.map.k250 == 250', on)).toEqual(failed('No such key: k250'));
  });

  it.each([
    ['event.text.split("").all(c, c == "x")', 'A list of more than 200 entries'],
    ['(event.list + event.list).all(n, n >= 0)', 'A list of more than 200 entries'],
    ['event.text.contains(event.half)', 'evaluation limit'],
    ['event.text.indexOf(event.half) > event.text.lastIndexOf(event.half)', 'evaluation limit'],
    ['event.text.split(event.half) == []', 'evaluation limit'],
    [`event.list.exists(n, ${'event.text.lowerAscii() == "a" || '.repeat(5)}size(event.text + "y") == 1)`, 'evaluation limit'],
    [`event.list.exists(n, ${'event.list == event.other || '.repeat(7)}false)`, 'evaluation limit'],
    [`event.list.exists(n, ${'event.list in [event.other] || '.repeat(7)}false)`, 'evaluation limit'],
    ['event.list.exists(n, event.map in event.maps)', 'evaluation limit'],
    [`event.list.exists(n, ${'event.text.trim().startsWith("y") || '.repeat(10)}false)`, 'evaluation limit'],
    ['event.list.exists(n, event.text.split("") == [])', 'evaluation limit'],
    [`event.list.exists(n, ${'size(event.text) == 1 || '.repeat(4)}false)`, 'evaluation limit'],
    ['event.texts.exists(t, (t + "y") in event.texts)', 'evaluation limit'],
    [
      'event.list.all(n, now.getHours("Europe/Berlin") > 99 || now.getMinutes("Asia/Tokyo") > 99 || now.getDate("UTC") > 0)',
      'evaluation limit',
    ],
    [`event.list.exists(n, ${'event.a||'.repeat(60)}event.a)`, 'evaluation limit'],
    ['event.list.exists(n, event.text.contains(event.half) || true)', 'evaluation limit'], // also where CEL would swallow the error
    ['duration(event.digits) > duration("1s")', 'A duration can have at most 32 characters'],
  ])('stops %s', (source, text) => {
    const list = Array.from({ length: 200 }, (_, n) => n);
    const other = [...list.slice(0, 199), 'z'];
    const texts = list.map((n) => `${'x'.repeat(2_000)}${n}`);
    const map = Object.fromEntries(list.map((n) => [`k${n}`, n]));
    const maps = list.map((n) => ({ n }));
    const on = onEvent({ text: long, half: `y${'x'.repeat(9_000)}`, list, other, texts, map, maps, digits: '1'.repeat(300) });
    expect(checkCondition(source)).toEqual({ ok: true });
    expect(run(source, on)).toEqual(failed(text));
  });

  it('stops when the allowance is used up, not after the work is done', () => {
    const half = 'x'.repeat(8_000);
    const on = onEvent({ text: 'x'.repeat(60_000), pattern: `${half}y${half}`, list: Array.from({ length: 200 }, (_, n) => n) });
    const before = process.cpuUsage();
    expect(run('event.list.exists(n, event.text.contains(event.pattern))', on)).toEqual(failed('evaluation limit'));
    // CPU time: what else the machine does counts for nothing. 200 such searches take ten times as long.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it('lets ordinary conditions through on a large event', () => {
    const list = Array.from({ length: 200 }, (_, n) => ({ name: `label-${n}`, hours: n / 2 }));
    const on = onEvent({ text: long, list, task });
    const source =
      'event.list.exists(l, l.name.startsWith("label-") && l.name.endsWith("-199") && l.hours > 99.0 && l.name != task.title)' +
      ' && ["crash", "panic", "xxxx"].exists(word, event.text.contains(word)) && event.text.lowerAscii() == event.text' +
      ' && now.getHours("Europe/Berlin") == 13';
    for (let n = 0; n < 100; n += 1) expect(run(source, on)).toEqual(yes); // each evaluation has its own allowance
  });

  it('cuts an event that is nested too deeply, visibly', () => {
    let deep: object = { end: 1 };
    for (let n = 0; n < 100_000; n += 1) deep = { d: deep };
    const on = onEvent({ deep, list: [deep] });
    expect(run('event.type == "manual"', on)).toEqual(yes);
    expect(run('event.deep.d.d.d != null', on)).toEqual(yes);
    // The path is written in two parts, since a condition may not nest deeper than 30 itself.
    const at = (level: number) => `(event.deep${'.d'.repeat(20)})${'.d'.repeat(level - 20)}`;
    expect(run(`${at(38)} != null`, on)).toEqual(yes);
    expect(run(`${at(39)} != null`, on)).toEqual(failed('No such key: d'));
  });
});

describe('conditionScope', () => {
  it('names the parts of a task event', () => {
    expect(
      run('task == event.task && changes == event.changes && forge == null && now == timestamp("2026-11-20T12:00:00Z")'),
    ).toEqual(yes);
    expect(run('project.project_id == "p1" && actor.email == "ada@demo.test"')).toEqual(yes);
  });

  it.each(['forge.pr_merged', 'forge.push', 'security.dependency_alert'])('%s is a forge event', (type) => {
    const on = conditionScope({ type, pr_number: 3, task: null }, { project: null, actor: null, now });
    expect(run('forge == event && forge.pr_number == 3 && task == null && project == null && actor == null', on)).toEqual(yes);
    expect(run('has(event.task) && event.task != null', on)).toEqual(no);
  });

  it.each([{ type: 'task.created' }, { type: 'forgery' }, { type: 7 }, {}])('%j is none', (event) => {
    const on = conditionScope(event, { project: null, actor: null, now });
    expect(run('forge == null && task == null && changes == null', on)).toEqual(yes);
    expect(run('changes.status.to == "done"', on)).toEqual(failed('No such key: status'));
  });

  it('holds JSON only: dates as text, nothing that is no data', () => {
    const on = onEvent({
      at: now,
      bad: new Date(Number.NaN),
      fn: () => 1,
      none: undefined,
      list: [undefined, 1],
      nan: Number.NaN,
    });
    expect(run('event.at == "2026-11-20T12:00:00.000Z" && event.bad == null && event.list == [null, 1]', on)).toEqual(yes);
    expect(run('has(event.fn) || has(event.none) || event.nan == event.nan', on)).toEqual(no);
  });

  it('is not changed by later changes of the event', () => {
    const event = { type: 'manual', list: [1] };
    const on = conditionScope(event, around);
    event.list.push(2);
    expect(run('size(event.list) == 1', on)).toEqual(yes);
  });
});
