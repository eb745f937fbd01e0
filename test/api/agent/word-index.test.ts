import { phraseStems, titleStems, WordIndex } from '../../../api/agent/grammar/match.js';

const WORDS = 'order crane wheel paint inspect invoice harbor port login new'.split(' ');
const random = (() => {
  let seed = 7;
  return (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
})();
const phrase = (most: number): string[] => Array.from({ length: 1 + random(most) }, () => WORDS[random(WORDS.length)] as string);

it('finds what a look at each title finds, in the order of the items', () => {
  const items = Array.from({ length: 200 }, (_, n) => ({ n, title: phrase(5).join(' ') }));
  const index = new WordIndex(items);
  const having = (words: readonly string[]) => items.filter(({ title }) => words.every((word) => titleStems(title).has(word)));
  for (let round = 0; round < 300; round += 1) {
    const words = phrase(4);
    const { all, distinctive } = phraseStems(words);
    const exact = having(all);
    const found = distinctive.length === 0 ? [] : exact.length > 0 ? exact : having(distinctive);
    expect(index.find(words)).toEqual(found);
    const score = ({ title }: { title: string }) => distinctive.filter((word) => titleStems(title).has(word)).length;
    const near = items.filter((item) => score(item) > 0).toSorted((a, b) => score(b) - score(a));
    expect(index.near(words)).toEqual(near);
  }
});
