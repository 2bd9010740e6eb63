/// \file
/// Lock discipline as attributes: checked by clang (-Wthread-safety, an error in the clang build),
/// invisible to g++.
#pragma once

#if defined(__clang__)
#define OG_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define OG_THREAD_ATTRIBUTE(x)
#endif

/// On a class: it is a lock.
#define OG_CAPABILITY(name) OG_THREAD_ATTRIBUTE(capability(name))
/// On a class: it locks in its constructor and unlocks in its destructor.
#define OG_SCOPED_CAPABILITY OG_THREAD_ATTRIBUTE(scoped_lockable)
/// On a member: read and written only under the lock.
#define OG_GUARDED_BY(mutex) OG_THREAD_ATTRIBUTE(guarded_by(mutex))
/// On a pointer member: what it points at is read and written only under the lock.
#define OG_PT_GUARDED_BY(mutex) OG_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
/// On a function: the caller holds the lock.
#define OG_REQUIRES(...) OG_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
/// On a function: the caller must not hold the lock (it is taken inside).
#define OG_EXCLUDES(...) OG_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define OG_ACQUIRE(...) OG_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define OG_RELEASE(...) OG_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define OG_TRY_ACQUIRE(...) OG_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
/// On a function whose locking the analysis cannot follow; a comment says why it is right.
#define OG_NO_THREAD_SAFETY_ANALYSIS OG_THREAD_ATTRIBUTE(no_thread_safety_analysis)
