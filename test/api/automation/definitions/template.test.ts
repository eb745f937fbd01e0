import fc from 'fast-check';
import {
  checkTemplates,
  findSecretHandles,
  isSecretName,
  type RenderResult,
  renderTemplates,
} from '../../../../api/automation/language/template.js';

const event = {
  type: 'forge.pr_merged',
  title: 'Fix {{event.type}} and {{secret:KEY}}',
  pr_number: 7,
  score: 2.5,
  merged: true,
  sender: null,
  labels: ['bug', 'login'],
  task: { task_id: 't1', title: 'Login 500', 'due-date': '2026-11-20', größe: 'L', tags: [] },
  text: '',
};
const render = (params: unknown, secrets?: (name: string) => string | undefined) =>
  renderTemplates(params, event, secrets ? { secrets } : {});
const ok = (value: unknown): RenderResult => ({ ok: true, value });
const failed = (code: string, rest: object = {}) => ({ ok: false, code, message: expect.any(String), ...rest });
const vault = (name: string) => ({ KEY: 's3cret', EMPTY: '', 'Deploy key 🚀': 'k', TRICK: '{{event.type}}' })[name];

describe('renderTemplates', () => {
  it.each([
    // alone in its text: the type stays
    ['{{event.title}}', event.title],
    ['{{event.pr_number}}', 7],
    ['{{event.score}}', 2.5],
    ['{{event.merged}}', true],
    ['{{event.sender}}', null],
    ['{{event.text}}', ''],
    ['{{event.labels}}', ['bug', 'login']],
    ['{{event.task}}', event.task],
    ['{{event.task.tags}}', []],
    ['{{event}}', event],
    // paths
    ['{{event.task.title}}', 'Login 500'],
    ['{{event.labels.0}}', 'bug'],
    ['{{event.labels.1}}', 'login'],
    ['{{event.task.due-date}}', '2026-11-20'],
    ['{{event.task.größe}}', 'L'],
    // spaces inside the braces
    ['{{ event.pr_number }}', 7],
    ['{{\n\tevent.pr_number\u00a0}}', 7],
    // inside text: text
    [' {{event.pr_number}}', ' 7'],
    ['{{event.pr_number}} ', '7 '],
    ['#{{event.pr_number}}: {{event.task.title}}!', '#7: Login 500!'],
    ['{{event.pr_number}}{{event.score}}', '72.5'],
    ['merged={{event.merged}}', 'merged=true'],
    ['by "{{event.sender}}"', 'by ""'],
    ['{{event.sender}}{{event.text}}', ''],
    ['labels {{event.labels}}', 'labels ["bug","login"]'],
    ['{"task":{{event.task}}}', `{"task":${JSON.stringify(event.task)}}`],
    // no template at all
    ['', ''],
    ['plain', 'plain'],
    ['{event.title} } { }} {', '{event.title} } { }} {'],
    ['{"a":{"b":1}}', '{"a":{"b":1}}'],
    ['{{event.pr_number}}}', '7}'],
  ])('%j gives %j', (text, value) => {
    expect(render(text)).toEqual(ok(value));
  });

  it.each([
    'event.nothing',
    'event.task.nothing',
    'event.nothing.deeper',
    'event.sender.login', // null has nothing
    'event.title.length', // nor has a text
    'event.title.0',
    'event.pr_number.toFixed',
    'event.labels.2',
    'event.labels.-1',
    'event.labels.01',
    'event.labels.length',
    'event.labels.map',
    'event.labels.extra',
    'event.toString',
    'event.constructor',
    'event.constructor.name',
    'event.__proto__',
    'event.__proto__.polluted',
    'event.task.hasOwnProperty',
    'event.gone', // undefined
  ])('%s is missing', (path) => {
    const labels = Object.assign(['bug', 'login'], { extra: 1 });
    const holed = { ...event, labels, gone: undefined };
    expect(renderTemplates(`{{${path}}}`, holed)).toEqual(failed('template_missing', { missing: path }));
    expect(renderTemplates({ a: [`see {{ ${path} }}`] }, holed)).toEqual(failed('template_missing', { missing: path }));
  });

  it('works at every depth, and never on keys', () => {
    const params = {
      a: [{ b: ['{{event.pr_number}}', 1, true, null, 'x {{event.pr_number}}'] }],
      'event.type': '{{event.type}}',
    };
    expect(render(params)).toEqual(ok({ a: [{ b: [7, 1, true, null, 'x 7'] }], 'event.type': 'forge.pr_merged' }));
    expect(params.a[0]?.b[0]).toBe('{{event.pr_number}}'); // the definition is left as it was
  });

  it('renders no template in a name, while fields of the event may have any name', () => {
    for (const name of ['{{secret:KEY}}', '{{event.type}}', 'a {{'])
      expect(render({ body: [{ [name]: 1 }] }, vault)).toEqual(failed('template_invalid'));
    const own = { box: { '{{secret:KEY}}': 1 } };
    expect(renderTemplates({ a: '{{event.box}}', b: '={{event.box}}' }, own)).toEqual(
      ok({ a: own.box, b: '={"{{secret:KEY}}":1}' }),
    );
  });

  it('does not read again what it filled in', () => {
    expect(render('{{event.title}}', vault)).toEqual(ok(event.title));
    expect(render('t: {{event.title}}', vault)).toEqual(ok(`t: ${event.title}`));
    expect(render(['{{event}}'], vault)).toEqual(ok([event]));
    expect(render('{{secret:TRICK}}', vault)).toEqual(ok('{{event.type}}'));
    const halves = { open: '{', close: '}', inner: 'event.open' };
    expect(renderTemplates('{{event.open}}{{event.open}}event.inner{{event.close}}{{event.close}}', halves)).toEqual(
      ok('{{event.inner}}'),
    );
  });

  it('gives a copy: later changes do not reach the event', () => {
    const own = { labels: ['a'] };
    const result = renderTemplates({ labels: '{{event.labels}}' }, own);
    own.labels.push('b');
    expect(result).toEqual(ok({ labels: ['a'] }));
  });

  it('carries data named like a prototype as data', () => {
    const evil = JSON.parse('{"box":{"__proto__":{"polluted":1},"constructor":"c"}}');
    const result = renderTemplates({ box: '{{event.box}}', text: '={{event.box}}' }, evil) as {
      value: { box: object; text: string };
    };
    expect(Object.hasOwn(result.value.box, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(result.value.box)).toBe(Object.prototype);
    expect(result.value.text).toBe('={"__proto__":{"polluted":1},"constructor":"c"}');
    expect(renderTemplates('{{event.box.constructor}}', evil)).toEqual(ok('c'));
  });

  it('turns what is not JSON into what JSON would say', () => {
    const odd = {
      at: new Date('2026-11-20T12:00:00Z'),
      bad: new Date(Number.NaN),
      nan: Number.NaN,
      fn: () => 1,
      big: 1n,
      gone: undefined,
    };
    expect(renderTemplates('{{event}}', odd)).toEqual(
      ok({ at: '2026-11-20T12:00:00.000Z', bad: null, nan: null, fn: null, big: null }),
    );
    expect(renderTemplates('{{event}}', odd)).toMatchObject({ value: expect.not.objectContaining({ gone: undefined }) });
    expect(renderTemplates('on {{event.at}}', odd)).toEqual(ok('on 2026-11-20T12:00:00.000Z'));
  });

  it.each([
    '{{event.title',
    'a {{',
    '{{}}',
    '{{ }}',
    '{{evnt.x}}',
    '{{event..x}}',
    '{{{event.title}}}',
    '{{event.title | upper}}',
  ])('refuses %j also at the run', (text) => {
    expect(render(text)).toEqual(failed('template_invalid'));
  });
});

describe('secrets', () => {
  it.each([
    ['{{secret:KEY}}', 's3cret'],
    ['Bearer {{secret:KEY}}', 'Bearer s3cret'],
    ['{{ secret:KEY }}', 's3cret'],
    ['{{secret: KEY }}', 's3cret'],
    ['{{secret:Deploy key 🚀}}', 'k'],
    ['<{{secret:EMPTY}}>', '<>'],
    ['{{secret:KEY}}{{event.pr_number}}{{secret:KEY}}', 's3cret7s3cret'],
  ])('%s is filled in', (text, value) => {
    expect(render(text, vault)).toEqual(ok(value));
  });

  it('fails on an unknown handle, and on any handle without a vault', () => {
    expect(render({ a: ['x {{secret:NOPE}}'] }, vault)).toEqual(failed('secret_missing', { secretMissing: 'NOPE' }));
    expect(render('{{secret:KEY}}')).toEqual(failed('secret_missing', { secretMissing: 'KEY' }));
    expect(render('{{secret:toString}}', vault)).toEqual(failed('secret_missing', { secretMissing: 'toString' }));
  });

  it('lists each handle once, in order', () => {
    const params = {
      headers: { authorization: 'Bearer {{secret:B}} {{ secret: A }}', '{{secret:IN_A_KEY}}': '' },
      list: ['{{secret:A}}', ['{{secret:C}}{{event.x}}{{secret:D d}}']],
      not: ['{{secret:}}', '{{secret:a/b}}', '{{event.secret:E}}', '{secret:F}', 1, null],
      partly: '{{secret:G}} {{nonsense}} {{secret:H}} {{ open {{secret:I}}',
    };
    expect(findSecretHandles(params)).toEqual(['B', 'A', 'C', 'D d', 'G', 'H']);
    expect([undefined, null, 7, '', [], {}].flatMap(findSecretHandles)).toEqual([]);
  });

  it.each([
    ['A', true],
    ['Deploy key', true],
    ['a.b:c-d_é', true],
    ['🚀'.repeat(80), true],
    ['🚀'.repeat(81), false],
    ['', false],
    ['a/b', false],
    ['a{b', false],
    ['a}b', false],
    ['a\nb', false],
    ['a\u0000b', false],
    ['a\u0085b', false],
  ])('name %j: %j', (name, valid) => {
    expect(isSecretName(name)).toBe(valid);
    expect(checkTemplates(`{{secret:${name}}}`)).toMatchObject({ ok: valid });
  });
});

describe('checkTemplates', () => {
  it.each([
    [undefined],
    [null],
    [7],
    ['plain } }} {'],
    ['{{event.a}} {{ event }} {{event.labels.0}} {{secret:KEY}}'],
    [{ '{a}}': 'a name with braces', '{{': undefined }],
    [{ a: [{ b: 'x {{event.task.title}}' }], c: null }],
  ])('accepts %j', (params) => {
    expect(checkTemplates(params)).toEqual({ ok: true });
  });

  it.each([
    ['{{event.title', 'never closed', '', 0],
    ['ab {{event.title} }', 'never closed', '', 3],
    ['{{event.a}} {{', 'never closed', '', 12],
    ['🚀🚀 {{', 'never closed', '', 3], // code points
    ['{{}}', 'empty', '', 0],
    ['x{{  }}', 'empty', '', 1],
    ['{{evnt.title}}', 'starts with event., steps. or secret:', '', 0],
    ['{{task.title}}', 'starts with event., steps. or secret:', '', 0],
    ['{{events}}', 'starts with event., steps. or secret:', '', 0],
    ['{{ Event.title }}', 'starts with event., steps. or secret:', '', 0],
    ['{{.title}}', 'starts with event., steps. or secret:', '', 0],
    ['{{secret.KEY}}', 'starts with event., steps. or secret:', '', 0],
    ['{{event.}}', 'empty step', '', 0],
    ['{{event..title}}', 'empty step', '', 0],
    ['{{event.a.}}', 'empty step', '', 0],
    ['{{event.title | upper}}', 'no code', '', 0],
    ['{{event.title.trim()}}', 'no code', '', 0],
    ['{{event.labels[0]}}', 'no code', '', 0],
    ['{{event.a b}}', 'no code', '', 0],
    ['{{event."a"}}', 'no code', '', 0],
    ["{{event.'a'}}", 'no code', '', 0],
    ['{{event.`a`}}', 'no code', '', 0],
    ['{{event.a{b}}', 'no code', '', 0],
    ['{{event.a\u0000}}', 'no code', '', 0],
    ['{{{event.a}}}', 'starts with', '', 0],
    ['{{secret:}}', "A secret's name", '', 0],
    [['{{event.a}}', { body: { text: '{{event.a}} {{x}}' } }], 'starts with', '1.body.text', 12],
    [{ url: '{{event.a}}', headers: { authorization: 'Bearer {{secret:a/b}}' } }, "A secret's name", 'headers.authorization', 7],
    [{ body: { '{{secret:KEY}}': 1 } }, 'A name holds no template', 'body.{{secret:KEY}}', 0],
    [{ headers: { '🚀X-{{event.a}}': 'a' } }, 'A name holds no template', 'headers.🚀X-{{event.a}}', 3],
    [{ payload: [{ a: { '{{': null } }] }, 'A name holds no template', 'payload.0.a.{{', 0],
  ])('refuses %j', (params, message, path, position) => {
    expect(checkTemplates(params)).toEqual({ ok: false, message: expect.stringContaining(message), path, position });
  });
});

describe('bounds', () => {
  const nested = (levels: number, end: unknown): unknown => {
    let value = end;
    for (let n = 0; n < levels; n += 1) value = n % 2 ? [value] : { a: value };
    return value;
  };
  const left = (bytes: number) => 'x'.repeat(bytes - 1); // a value costs one byte, and its text

  it('32 levels of params, no more', () => {
    expect(render(nested(32, '{{event.pr_number}}'))).toEqual(ok(nested(32, 7)));
    expect(checkTemplates(nested(32, '{{event.pr_number}}'))).toEqual({ ok: true });
    expect(findSecretHandles(nested(32, '{{secret:A}}'))).toEqual(['A']);
    expect(render(nested(33, 1))).toEqual(failed('template_too_deep'));
    expect(checkTemplates(nested(33, 1))).toMatchObject({
      ok: false,
      message: expect.stringContaining('32 levels'),
      position: null,
    });
  });

  it('counts what is filled in', () => {
    const deep = { deep: nested(30, 1) };
    expect(renderTemplates(nested(2, '{{event.deep}}'), deep)).toMatchObject({ ok: true });
    expect(renderTemplates(nested(3, '{{event.deep}}'), deep)).toEqual(failed('template_too_deep'));
    expect(renderTemplates(nested(3, '={{event.deep}}'), deep)).toMatchObject({ ok: true }); // text has no depth of its own
    expect(renderTemplates('={{event.deep}}', { deep: nested(33, 1) })).toEqual(failed('template_too_deep'));
  });

  it('survives any depth', () => {
    const abyss = nested(100_000, '{{secret:A}}') as object;
    expect(render(abyss)).toEqual(failed('template_too_deep'));
    expect(renderTemplates('{{event}}', abyss)).toEqual(failed('template_too_deep'));
    expect(renderTemplates('x{{event}}', abyss)).toEqual(failed('template_too_deep'));
    expect(checkTemplates(abyss)).toMatchObject({ ok: false });
    expect(findSecretHandles(abyss)).toEqual([]);
  });

  it('64 kB of output, in bytes, from any source', () => {
    const big = { text: left(65_536), one: 'y', list: [left(65_536 - 1)], keyed: { [left(65_536 - 1)]: 1 } };
    expect(render(left(65_536))).toMatchObject({ ok: true });
    expect(render(left(65_537))).toEqual(failed('template_too_large'));
    expect(render('é'.repeat(32_768))).toEqual(failed('template_too_large'));
    expect(render({ [left(65_536)]: 1 })).toEqual(failed('template_too_large'));
    expect(renderTemplates('{{event.text}}', big)).toEqual(failed('template_too_large')); // one value stands for two
    expect(renderTemplates('{{event.text}}', { text: left(65_535) })).toMatchObject({ ok: true });
    expect(renderTemplates('{{event.text}}{{event.one}}', big)).toEqual(failed('template_too_large'));
    expect(renderTemplates('{{event.list}}', big)).toEqual(failed('template_too_large'));
    expect(renderTemplates(' {{event.list}}', big)).toEqual(failed('template_too_large'));
    expect(renderTemplates('{{event.keyed}}', big)).toEqual(failed('template_too_large'));
    expect(render('{{secret:KEY}}', () => left(65_537))).toEqual(failed('template_too_large'));
    expect(render(Array.from({ length: 70_000 }, () => ''))).toEqual(failed('template_too_large'));
    expect(render('{{event}}'.repeat(2_000))).toEqual(failed('template_too_large'));
  });

  it('reads a hostile text once', () => {
    for (const text of ['{'.repeat(500_000), '{{ '.repeat(200_000), '{{event.'.repeat(100_000), '}}'.repeat(300_000)]) {
      checkTemplates(text);
      findSecretHandles(text);
      render(text);
    }
    expect(checkTemplates(`{{event.${'a.'.repeat(200_000)}}}`)).toMatchObject({ ok: false });
    expect(checkTemplates(`{{secret:${'a'.repeat(500_000)}}}`)).toMatchObject({ ok: false });
  });
});

describe('properties', () => {
  const bits = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    'event',
    '.',
    'a',
    '0',
    'secret:',
    ' ',
    '🚀',
    '/',
    '__proto__',
    '{{event.a}}',
    '{{secret:a}}',
  );
  const text = fc.array(bits, { maxLength: 12 }).map((parts) => parts.join(''));
  const data = fc.dictionary(fc.constantFrom('a', '0', '__proto__', 'b'), fc.oneof(text, fc.jsonValue(), fc.anything()));

  it('never throws, and a text that passes the check fails only for what is missing', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.array(text), data, fc.anything()), data, (params, event) => {
        const checked = checkTemplates(params);
        const result = renderTemplates(params, event, { secrets: (name) => (name === 'a' ? '{{event.a}}' : undefined) });
        const codes = checked.ok
          ? ['template_missing', 'secret_missing']
          : ['template_invalid', 'template_missing', 'secret_missing'];
        if (!result.ok) expect(codes).toContain(result.code);
        if (result.ok) expect(checked).toEqual({ ok: true });
      }),
      { numRuns: 1_000 },
    );
  });

  it('never expands a rendered value: its text stays unchanged', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom('<', '', '}', ' - '), (a, b, between) => {
        const secrets = () => b;
        expect(renderTemplates(`{{event.a}}${between}{{event.list.0}}`, { a, list: [b] })).toEqual(ok(a + between + b));
        expect(renderTemplates(`{{event.a}}${between}{{secret:x}}`, { a }, { secrets })).toEqual(ok(a + between + b));
        expect(renderTemplates({ v: '{{event.deep}}' }, { deep: { x: [a, { b }] } })).toEqual(ok({ v: { x: [a, { b }] } }));
      }),
      { numRuns: 1_000 },
    );
  });

  it('JSON data comes through whole', () => {
    const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const event = { value: json(value) };
        expect(renderTemplates('{{event.value}}', event)).toEqual(ok(event.value));
        if (typeof value === 'object' && value !== null) {
          expect(renderTemplates('={{event.value}}', event)).toEqual(ok(`=${JSON.stringify(event.value)}`));
        }
      }),
    );
  });

  it('finds exactly the handles a run asks for', () => {
    fc.assert(
      fc.property(fc.array(text), (params) => {
        fc.pre(checkTemplates(params).ok);
        const asked = new Set<string>();
        const secrets = (name: string) => {
          asked.add(name);
          return '';
        };
        fc.pre(renderTemplates(params, { a: 1, 0: 1, __proto__: null }, { secrets }).ok);
        expect(findSecretHandles(params)).toEqual([...asked]);
      }),
    );
  });
});
