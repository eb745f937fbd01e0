import type { Page } from 'playwright-core';
import { withVisibleNames } from '../../api/platform/validation/invisible.js';
import type { ActionLine, FieldLine } from '../../api/gate/staging/schema.js';
import { createFormatter } from '../../api/web/wording/formatter.js';

/** What a page of a decision shows, as a browser draws it. */

/** One action as the page shows it; `was` and `is`: the value without what is added, and without what is removed. */
interface Shown {
  index: number | null;
  heading: string;
  fields: { name: string; was: string; is: string }[];
}
/** One action as it is stored. */
export interface Staged {
  params: Record<string, unknown> | null;
  secrets?: Record<string, string>;
}

/** Opens what is folded, from the outside to the inside. */
export async function unfold(page: Page): Promise<void> {
  for (const summary of await page.locator('ol.changes summary').all()) await summary.click();
}

/** Reads what is drawn of each action, without words for screen readers and without the first lines of a text that is shown whole. */
const READ = `(() => {
  const without = (element, hidden) => {
    const gone = [...element.querySelectorAll(hidden)];
    for (const one of gone) one.style.display = 'none';
    const text = element.innerText;
    for (const one of gone) one.style.display = '';
    return text;
  };
  return [...document.querySelectorAll('ol.changes > li')].map((line) => ({
    index: line.querySelector('[name=index]') ? Number(line.querySelector('[name=index]').value) : null,
    heading: line.querySelector('.step, label').innerText,
    fields: [...line.querySelectorAll('dt')].map((dt) => ({
      name: dt.innerText,
      was: without(dt.nextElementSibling, '.unseen, summary, ins'),
      is: without(dt.nextElementSibling, '.unseen, summary, del'),
    })),
  }));
})()`;

const inWords = ({ name }: FieldLine, text: string | null): string =>
  text === null ? '' : name === 'status' ? createFormatter(null).formatStatus(text) : text;

/** Every field of the API is on the page, in its order, under its action. */
export function expectAll(shown: Shown[], actions: ActionLine[]): void {
  expect(shown).toHaveLength(actions.length);
  for (const [at, { verb, title, fields }] of actions.entries()) {
    const line = shown[at] as Shown;
    expect(line.heading).toContain(verb);
    expect(line.heading).toContain(title ?? '');
    expect(line.fields.map(({ name }) => name)).toEqual(fields.map(({ name }) => name));
    for (const [nth, field] of fields.entries()) {
      expect(line.fields[nth]?.was).toContain(inWords(field, field.before));
      expect(line.fields[nth]?.is).toContain(inWords(field, field.after) || (field.before === null ? 'none' : ''));
    }
  }
}

/** The single values of parameters, however deep. */
function listLeaves(given: unknown): string[] {
  if (given === null || given === undefined) return [];
  if (typeof given === 'object') return Object.values(given).flatMap(listLeaves);
  return [String(given as string | number | boolean)];
}
const splitLines = ({ heading, fields }: Shown): string => [heading, ...fields.flatMap(({ was, is }) => [was, is])].join('\n');

/** Every value of the parameters is in the line of its action; of a secret, the name alone. */
export function expectLeaves(shown: Shown[], actions: Staged[], words: Record<string, string>): void {
  for (const [at, { params, secrets = {} }] of actions.entries()) {
    const line = splitLines(shown[at] as Shown);
    const marks = Object.entries(secrets);
    for (const leaf of listLeaves(params)) {
      const text = marks.reduce((now, [mark, secret]) => now.replaceAll(mark, `{{secret:${secret}}}`), leaf);
      const ways = [text, JSON.stringify(text).slice(1, -1), words[leaf] ?? text].map(withVisibleNames);
      expect(ways.some((way) => line.includes(way)) ? leaf : line).toBe(leaf);
    }
  }
}

/** Reads every action of the page, in the order of the plan or gate. */
export async function readShown(page: Page): Promise<Shown[]> {
  await unfold(page);
  const shown = await page.evaluate<Shown[]>(READ);
  return shown.toSorted((a, b) => Number(a.index) - Number(b.index));
}

/** What is wrong with how the page is laid out: a page that is too wide, a value that does not begin on the row of its label, a text that is cut. */
export const FAULTS = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const faults = scrollWidth > clientWidth ? ['the page is ' + scrollWidth + ' wide'] : [];
  const firstTop = (element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const [box] = range.getClientRects();
      if (box && box.width > 0 && !texts.currentNode.parentElement.closest('.unseen')) return box.top;
    }
  };
  const labels = [...document.querySelectorAll('dl.facts.small dt')].filter((label) => label.checkVisibility());
  for (const label of labels) {
    const value = label.nextElementSibling;
    const fault = (what) => faults.push(label.innerText + ': ' + what);
    const [left, right, both] = [label, value, label.parentElement].map((one) => one.getBoundingClientRect());
    if (value.tagName !== 'DD') fault('has no value');
    // A long text that is open has the whole width, right below its label.
    if (value.querySelector(':scope > details[open]')) {
      if (!(right.top >= left.bottom && right.top - left.bottom <= 12)) fault('its open value is not right below');
    } else {
      if (Math.abs(left.top - right.top) > 4) fault('its value is on another row');
      if (!(Math.abs(firstTop(label) - firstTop(value)) <= 4)) fault('the text of its value begins on another row');
      if (right.left < left.right) fault('overlaps its value');
    }
    if (right.width < both.width / 2) fault('its value has no room: ' + right.width + ' of ' + both.width);
    for (const one of [label, value, ...value.querySelectorAll('*')]) {
      const isBox = getComputedStyle(one).display !== 'inline' && !one.closest('.unseen');
      if (isBox && one.scrollWidth > one.clientWidth) fault('is cut: ' + one.outerHTML.slice(0, 80));
    }
  }
  return labels.length > 0 ? faults : ['there are no labels'];
})()`;
