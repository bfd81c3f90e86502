//! Which version of Landlock's interface the kernel has.

/// Zero: none, or turned off.
pub(crate) fn landlock_version() -> u32 {
    const ASK_VERSION: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with this flag the call reads no memory and makes nothing.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_VERSION) };
    u32::try_from(version).unwrap_or(0)
}
