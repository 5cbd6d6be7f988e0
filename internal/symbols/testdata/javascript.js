// function notHere() {}
import Thing, { open } from './thing.js';

export const VERSION = '1', build = 2;
const LIMIT = 3;
const plain = 4;

export default function main(argv) {
  function inner() {}
  return open(argv);
}

export async function* walk(tree) {}

export class Store extends Thing {
  #hidden() {}
  static async get(key) {
    return this.#hidden();
  }
  later = () => {};
}

export const add = async (a, b) => {
  return a + b;
};
Store.prototype.put = function (key, value) {
};
const api = { start: function () {}, stop() {
  } };
