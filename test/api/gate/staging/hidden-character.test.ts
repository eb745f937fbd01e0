import { hiddenCharacter } from '../../../../api/gate/staging/hidden-character.js';

it.each([
  [{ to: 'Ann' }, undefined],
  [{ to: ['Ann', { note: 'a\u202eb' }] }, 'U+202E'],
  // A key is shown beside its value, so it can mislead as well.
  [{ 'to\u200b': 'Ann', to: 'Max' }, 'U+200B'],
  [[{ deep: { 'a\u2066': 1 } }], 'U+2066'],
  [null, undefined],
  [7, undefined],
])('%j hides %s', (value, found) => {
  expect(hiddenCharacter(value)).toBe(found);
});
