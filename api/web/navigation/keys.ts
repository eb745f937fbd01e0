import type { IconName } from '../icons.js';
import { PLACES } from './places.js';

/** Kinds of changes of a task, each with its key: some happen at once, the others open a chooser. */
export const TASK_ACTS = [
  { act: 'done', key: 'e', does: 'Mark as done, or reopen', icon: 'check' },
  { act: 'mine', key: 'i', does: 'Assign to me', icon: 'person' },
  { act: 'status', key: 's', does: 'Set status', icon: 'check' },
  { act: 'assignee', key: 'a', does: 'Assign to', icon: 'person' },
  { act: 'priority', key: 'p', does: 'Set priority', icon: 'warn' },
  { act: 'due', key: 'd', does: 'Set due date', icon: 'clock' },
  { act: 'estimate', key: 'E', does: 'Set estimate', icon: 'dot' },
  { act: 'cycle', key: 'C', does: 'Move to cycle', icon: 'cycle' },
  { act: 'project', key: 'P', does: 'Move to project', icon: 'board' },
  { act: 'tag', key: 'l', does: 'Add tag', icon: 'plus' },
  { act: 'field', key: 'f', does: 'Set a custom field', icon: 'tools' },
] as const satisfies readonly { act: string; key: string; does: string; icon: IconName }[];
/** What a chooser of the palette can be open for. One for the original of a duplicate follows the choice of that status. */
export const CHOOSERS = [...TASK_ACTS.map(({ act }) => act), 'duplicate'] as const;

interface Key {
  /** Keys that are pressed one after the other, as they are printed. */
  presses: readonly string[];
  does: string;
}

const placeKeys = PLACES.flatMap(({ keys, label }) => (keys ? [{ presses: keys.split(' '), does: label }] : []));

/** Every key of the web app. Links and fields name theirs in `data-keys`, where the script finds them. */
export const KEY_GROUPS: readonly { name: string; keys: readonly Key[] }[] = [
  {
    name: 'Anywhere',
    keys: [
      { presses: ['Ctrl K'], does: 'Open the palette: tasks, pages, items, actions and new tasks' },
      { presses: ['c'], does: 'New task' },
      { presses: ['z'], does: 'Undo the last change in this tab, then the one before, for ten minutes' },
      { presses: ['Shift Z'], does: 'Make again what was undone' },
      { presses: ['/'], does: 'Search' },
      { presses: ['?'], does: 'List the keys' },
      { presses: ['Esc'], does: 'Close what is open' },
    ],
  },
  {
    name: 'In lists and boards',
    keys: [
      { presses: ['j'], does: 'Next row or card, as Arrow down' },
      { presses: ['k'], does: 'Previous row or card, as Arrow up' },
      { presses: ['Enter'], does: 'Open it, as o' },
      { presses: ['Space'], does: 'Show a task beside the list, which keys go through; Space or Esc closes it' },
      { presses: ['Shift F'], does: 'Filter' },
      { presses: ['x'], does: 'Tick it, or not' },
      { presses: ['Shift J'], does: 'Tick it and the next one, as Shift Arrow down where the order is not manual' },
      { presses: ['Shift K'], does: 'Tick it and the previous one, as Shift Arrow up there' },
      { presses: ['Shift Click'], does: 'Tick all rows from the one ticked last' },
      { presses: ['Esc'], does: 'Untick all' },
      { presses: ['Shift Arrow down'], does: 'Move it down, where the order is manual' },
      { presses: ['Shift Arrow up'], does: 'Move it up, where the order is manual' },
      { presses: ['Shift Arrow right'], does: 'Move a card to the next column' },
      { presses: ['Shift Arrow left'], does: 'Move a card to the previous column' },
    ],
  },
  {
    name: 'With a task: ticked, in focus, or open',
    keys: [
      ...TASK_ACTS.map(({ key, does }) => ({ presses: [key === key.toUpperCase() ? `Shift ${key}` : key], does })),
      { presses: ['r'], does: 'Edit the title, on its page' },
      { presses: ['.'], does: 'Copy its link' },
      { presses: ['>'], does: 'Copy the name of its branch, on its page' },
      { presses: ['w'], does: 'Follow it or no more, on its page' },
      { presses: ['j'], does: 'Open the next task of the list that you came from' },
      { presses: ['k'], does: 'Open the previous one' },
      { presses: ['u'], does: 'Back to that list' },
    ],
  },
  {
    name: 'With a decision: in focus, or open',
    keys: [
      { presses: ['y'], does: 'Go to its Approve button; Enter then approves' },
      { presses: ['n'], does: 'Go to the reason for rejecting it; Enter then rejects' },
      { presses: ['Esc'], does: 'Back to the card' },
    ],
  },
  { name: 'In the inbox', keys: [{ presses: ['e'], does: 'Mark it as read, or as unread' }] },
  { name: 'Go to', keys: placeKeys.filter(({ presses }) => presses.length > 1) },
  {
    name: 'In the palette',
    keys: [
      { presses: ['Arrow down'], does: 'Next result' },
      { presses: ['Arrow up'], does: 'Previous result' },
      { presses: ['Enter'], does: 'Open the result' },
      { presses: ['Ctrl Enter'], does: 'Open the result in a new tab' },
    ],
  },
];
