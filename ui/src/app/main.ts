// Mounts the page with its backend.
import { mount } from "svelte";
import App from "./App.svelte";
import { backend } from "../backend/index";
import "./theme.css";
import "./shapes.css";
import "./controls.css";

const target = document.getElementById("app");
if (target === null) throw new Error("index.html has no #app");
mount(App, { target, props: { backend: backend() } });
