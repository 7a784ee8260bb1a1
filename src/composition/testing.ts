export * from '../adapters/fakes/fakes.js';
